# layout: run 3 0 1 2 1 2 4 1 2 8 1 2 5:4 7 1 2 6 | 3
	.file	"t2.c"
	.text
	.p2align 4
	.globl	run
	.type	run, @function
run:
.LFB0:
	.cfi_startproc
	pushq	%r12
	.cfi_def_cfa_offset 16
	.cfi_offset 12, -16
	leaq	.L5(%rip), %r12
	pushq	%rbp
	.cfi_def_cfa_offset 24
	.cfi_offset 6, -24
	movq	%rsi, %rbp
	pushq	%rbx
	.cfi_def_cfa_offset 32
	.cfi_offset 3, -32
	movq	%rdi, %rbx
	.p2align 4,,10
	.p2align 3
.L2:
	addq	$1, %rbx
	movq	0(%rbp), %rdi
	cmpb	$4, -1(%rbx)
	ja	.L1
	movzbl	-1(%rbx), %eax
	movslq	(%r12,%rax,4), %rax
	addq	%r12, %rax
	jmp	*%rax
	.section	.rodata
	.align 4
	.align 4
.L5:
	.long	.L9-.L5
	.long	.L8-.L5
	.long	.L7-.L5
	.long	.L6-.L5
	.long	.L4-.L5
	.text
	.p2align 4,,10
	.p2align 3
.L6:
	movzbl	1(%rbx), %eax
	xorq	%rdi, %rax
	movq	%rax, 0(%rbp)
	jmp	.L2
	.p2align 4,,10
	.p2align 3
.L7:
	addq	%rdi, %rdi
	addq	$8, %rbp
	movq	%rdi, -8(%rbp)
	jmp	.L2
	.p2align 4,,10
	.p2align 3
.L8:
	call	emit@PLT
	jmp	.L2
	.p2align 4,,10
	.p2align 3
.L9:
	addq	$1, %rdi
	movq	%rdi, 0(%rbp)
	jmp	.L2
	.p2align 4,,10
	.p2align 3
.L4:
	movzbl	(%rbx), %eax
	subq	$8, %rbp
	leal	(%rax,%rax,2), %eax
	cltq
	addq	%rdi, %rax
	movq	%rax, 8(%rbp)
	jmp	.L2
.L1:
	popq	%rbx
	.cfi_def_cfa_offset 24
	movq	%rdi, %rax
	popq	%rbp
	.cfi_def_cfa_offset 16
	popq	%r12
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.LFE0:
	.size	run, .-run
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
