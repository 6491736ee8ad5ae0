# count: edges thread
	.file	"c2.c"
	.text
	.p2align 4
	.globl	run
	.type	run, @function
run:
.LFB0:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	movq	%rdi, %rbx
	movl	%esi, %edi
	movzbl	(%rbx), %eax
	jmp	*t.1(,%rax,8)
	.p2align 4,,10
	.p2align 3
.L7:
	movl	%edi, %eax
	popq	%rbx
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L6:
	.cfi_restore_state
	call	h
	addq	$1, %rbx
	movl	%eax, %edi
	movzbl	(%rbx), %eax
	movq	t.1(,%rax,8), %rax
	jmp	*%rax
	.p2align 4,,10
	.p2align 3
.L4:
	movzbl	1(%rbx), %eax
	addq	$2, %rbx
	subl	%eax, %edi
	jo	.L6
	movzbl	(%rbx), %eax
	movq	t.1(,%rax,8), %rax
	jmp	*%rax
	.p2align 4,,10
	.p2align 3
.L3:
	movzbl	1(%rbx), %eax
	addq	$2, %rbx
	addl	%eax, %edi
	movzbl	(%rbx), %eax
	movq	t.1(,%rax,8), %rax
	jmp	*%rax
	.cfi_endproc
.LFE0:
	.size	run, .-run
	.p2align 4
	.globl	delta
	.type	delta, @function
delta:
.LFB1:
	.cfi_startproc
	movslq	%edi, %rdi
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	movslq	d.0(,%rdi,4), %rax
	addq	$.L15, %rax
	jmp	*%rax
	.p2align 4,,10
	.p2align 3
.L16:
	movl	$2, %edi
	call	h
	addq	$8, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	addl	$1, %eax
	ret
	.p2align 4,,10
	.p2align 3
.L15:
	.cfi_restore_state
	movl	$1, %edi
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	jmp	h
	.cfi_endproc
.LFE1:
	.size	delta, .-delta
	.section	.rodata
	.align 8
	.type	d.0, @object
	.size	d.0, 8
d.0:
	.long	0
	.long	.L16-.L15
	.align 32
	.type	t.1, @object
	.size	t.1, 32
t.1:
	.quad	.L3
	.quad	.L4
	.quad	.L6
	.quad	.L7
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
