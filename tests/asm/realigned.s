# layout: v 3 0 2 | 1 2
	.file	"al.c"
	.text
	.p2align 4
	.globl	f
	.type	f, @function
f:
.LFB6392:
	.cfi_startproc
	leaq	8(%rsp), %r10
	.cfi_def_cfa 10, 0
	andq	$-64, %rsp
	movslq	%edi, %rax
	pushq	-8(%r10)
	pushq	%rbp
	movq	%rsp, %rbp
	.cfi_escape 0x10,0x6,0x2,0x76,0
	pushq	%r12
	pushq	%r10
	.cfi_escape 0xf,0x3,0x76,0x70,0x6
	.cfi_escape 0x10,0xc,0x2,0x76,0x78
	leaq	-176(%rbp), %rdi
	pushq	%rbx
	.cfi_escape 0x10,0x3,0x2,0x76,0x68
	movq	%rax, %rbx
	leaq	39(,%rax,8), %rax
	andq	$-16, %rax
	movl	%ebx, %esi
	subq	$152, %rsp
	subq	%rax, %rsp
	call	g@PLT
	leaq	31(%rsp), %r12
	movl	%ebx, %esi
	andq	$-32, %r12
	movq	%r12, %rdi
	call	g@PLT
	movsbl	-176(%rbp), %eax
	pxor	%xmm0, %xmm0
	cvtsi2sdl	%eax, %xmm0
	addsd	8(%r12), %xmm0
	leaq	-24(%rbp), %rsp
	popq	%rbx
	popq	%r10
	.cfi_def_cfa 10, 0
	popq	%r12
	popq	%rbp
	leaq	-8(%r10), %rsp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE6392:
	.size	f, .-f
	.p2align 4
	.globl	v
	.type	v, @function
v:
.LFB6393:
	.cfi_startproc
	leaq	8(%rsp), %r10
	.cfi_def_cfa 10, 0
	andq	$-64, %rsp
	movslq	%edi, %rax
	pushq	-8(%r10)
	pushq	%rbp
	movq	%rsp, %rbp
	.cfi_escape 0x10,0x6,0x2,0x76,0
	pushq	%r10
	.cfi_escape 0xf,0x3,0x76,0x78,0x6
	pushq	%rbx
	.cfi_escape 0x10,0x3,0x2,0x76,0x70
	movq	%rax, %rbx
	addq	$15, %rax
	andq	$-16, %rax
	subq	$160, %rsp
	subq	%rax, %rsp
	testq	%rsi, %rsi
	jne	.L8
	movl	%ebx, %esi
	movq	%rsp, %rdi
	call	g@PLT
	leaq	-176(%rbp), %rdi
	movl	%ebx, %esi
	call	g@PLT
	movsbl	-173(%rbp), %eax
	movsbl	2(%rsp), %edx
	leaq	-16(%rbp), %rsp
	popq	%rbx
	popq	%r10
	.cfi_remember_state
	.cfi_def_cfa 10, 0
	addl	%edx, %eax
	popq	%rbp
	leaq	-8(%r10), %rsp
	.cfi_def_cfa 7, 8
	ret
	.p2align 4,,10
	.p2align 3
.L8:
	.cfi_restore_state
	leaq	-176(%rbp), %rdi
	movl	%ebx, %esi
	call	g@PLT
	leaq	-16(%rbp), %rsp
	movl	$3, %eax
	popq	%rbx
	popq	%r10
	.cfi_def_cfa 10, 0
	popq	%rbp
	leaq	-8(%r10), %rsp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE6393:
	.size	v, .-v
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
