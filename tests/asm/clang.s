# layout: f 12 0 4 3 10 9 11 12 8 | 7 6 5 2 1
	.text
	.file	"c1.c"
	.globl	f                               # -- Begin function f
	.p2align	4, 0x90
	.type	f,@function
f:                                      # @f
	.cfi_startproc
# %bb.0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	pushq	%r14
	.cfi_def_cfa_offset 24
	pushq	%rbx
	.cfi_def_cfa_offset 32
	.cfi_offset %rbx, -32
	.cfi_offset %r14, -24
	.cfi_offset %rbp, -16
	movq	%rsi, %r14
	movl	%edi, %ebp
	cmpl	$5, %edi
	ja	.LBB0_6
# %bb.1:
	movl	$9, %eax
	movl	%ebp, %ecx
	leaq	.LJTI0_0(%rip), %rdx
	movslq	(%rdx,%rcx,4), %rcx
	addq	%rdx, %rcx
	jmpq	*%rcx
.LBB0_2:
	movl	$3, %edi
	popq	%rbx
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	jmp	g@PLT                           # TAILCALL
.LBB0_6:
	.cfi_def_cfa_offset 32
	testl	%ebp, %ebp
	jns	.LBB0_7
# %bb.10:
	callq	abort@PLT
.LBB0_11:
	movl	$7, %edi
	callq	g@PLT
	addl	$1, %eax
	jmp	.LBB0_12
.LBB0_3:
	leaq	.L.str(%rip), %rdi
	callq	puts@PLT
	jmp	.LBB0_7
.LBB0_4:
	leaq	.L.str.1(%rip), %rdi
	callq	puts@PLT
	jmp	.LBB0_7
.LBB0_5:
	movl	$1, %edi
	callq	g@PLT
.LBB0_7:
	xorl	%ebx, %ebx
	.p2align	4, 0x90
.LBB0_8:                                # =>This Inner Loop Header: Depth=1
	movl	%ebx, %edi
	callq	g@PLT
	addl	$1, %ebx
	cmpl	%ebx, %ebp
	jne	.LBB0_8
# %bb.9:
	movq	(%r14), %rax
	movsbl	(%rax), %eax
.LBB0_12:
	popq	%rbx
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end0:
	.size	f, .Lfunc_end0-f
	.cfi_endproc
	.section	.rodata,"a",@progbits
	.p2align	2
.LJTI0_0:
	.long	.LBB0_2-.LJTI0_0
	.long	.LBB0_11-.LJTI0_0
	.long	.LBB0_3-.LJTI0_0
	.long	.LBB0_12-.LJTI0_0
	.long	.LBB0_4-.LJTI0_0
	.long	.LBB0_5-.LJTI0_0
                                        # -- End function
	.type	.L.str,@object                  # @.str
	.section	.rodata.str1.1,"aMS",@progbits,1
.L.str:
	.asciz	"a"
	.size	.L.str, 2

	.type	.L.str.1,@object                # @.str.1
.L.str.1:
	.asciz	"b"
	.size	.L.str.1, 2

	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack","",@progbits
