	.file	"random.c"
	.text
	.p2align 4
	.globl	random_blocks
	.type	random_blocks, @function
random_blocks:
.LFB0:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	pushq	%rbp
	.cfi_def_cfa_offset 24
	pushq	%r12
	.cfi_def_cfa_offset 32
	pushq	%r13
	.cfi_def_cfa_offset 40
	pushq	%r14
	.cfi_def_cfa_offset 48
	pushq	%r15
	.cfi_def_cfa_offset 56
	subq	$264, %rsp
	.cfi_def_cfa_offset 320
	movq	0(%rdi), %rax
	movq	%rax, 0(%rsp)
	movq	8(%rdi), %rax
	movq	%rax, 8(%rsp)
	movq	16(%rdi), %rax
	movq	%rax, 16(%rsp)
	movq	24(%rdi), %rax
	movq	%rax, 24(%rsp)
	movq	32(%rdi), %rax
	movq	%rax, 32(%rsp)
	movq	40(%rdi), %rax
	movq	%rax, 40(%rsp)
	movq	48(%rdi), %rax
	movq	%rax, 48(%rsp)
	movq	56(%rdi), %rax
	movq	%rax, 56(%rsp)
	movq	64(%rdi), %rax
	movq	%rax, 64(%rsp)
	movq	72(%rdi), %rax
	movq	%rax, 72(%rsp)
	movq	80(%rdi), %rax
	movq	%rax, 80(%rsp)
	movq	88(%rdi), %rax
	movq	%rax, 88(%rsp)
	movq	96(%rdi), %rax
	movq	%rax, 96(%rsp)
	movq	104(%rdi), %rax
	movq	%rax, 104(%rsp)
	movq	112(%rdi), %rax
	movq	%rax, 112(%rsp)
	movq	120(%rdi), %rax
	movq	%rax, 120(%rsp)
	movq	0(%rdi), %rax
	movq	%rax, 128(%rsp)
	movq	8(%rdi), %rax
	movq	%rax, 136(%rsp)
	movq	16(%rdi), %rax
	movq	%rax, 144(%rsp)
	movq	24(%rdi), %rax
	movq	%rax, 152(%rsp)
	movq	32(%rdi), %rax
	movq	%rax, 160(%rsp)
	movq	40(%rdi), %rax
	movq	%rax, 168(%rsp)
	movq	48(%rdi), %rax
	movq	%rax, 176(%rsp)
	movq	56(%rdi), %rax
	movq	%rax, 184(%rsp)
	movq	64(%rdi), %rax
	movq	%rax, 192(%rsp)
	movq	72(%rdi), %rax
	movq	%rax, 200(%rsp)
	movq	80(%rdi), %rax
	movq	%rax, 208(%rsp)
	movq	88(%rdi), %rax
	movq	%rax, 216(%rsp)
	movq	96(%rdi), %rax
	movq	%rax, 224(%rsp)
	movq	104(%rdi), %rax
	movq	%rax, 232(%rsp)
	movq	112(%rdi), %rax
	movq	%rax, 240(%rsp)
	movq	120(%rdi), %rax
	movq	%rax, 248(%rsp)
	movq	0(%rdi), %rax
	movq	8(%rdi), %rbx
	movq	16(%rdi), %rcx
	movq	24(%rdi), %rdx
	movq	32(%rdi), %rsi
	movq	48(%rdi), %rbp
	movq	56(%rdi), %r8
	movq	64(%rdi), %r9
	movq	72(%rdi), %r10
	movq	80(%rdi), %r11
	movq	88(%rdi), %r12
	movq	96(%rdi), %r13
	movq	104(%rdi), %r14
	movq	112(%rdi), %r15
	movq	120(%rdi), %rdi
	testq	%rdi, %rdi
.L0:
	bswapq	%r14
	movq	$2147483647, 228(%rsp)
	cmovne	%rbx, %r15
	cmpb	116(%rsp), %sil
	jb	.L3
.L1:
	pushw	%r10w
	popw	%r13w
	movb	%dl, %dl
	xorq	%rcx, %rdx
	jae	.L3
.L2:
	cltd
	andl	$127, %esi
	orl	$2, %esi
	idivl	%esi
	jle	.L4
.L3:
	imulq	$7, %r14, %rcx
	xorl	%edx, %edx
	orl	$1, %ebx
	divl	%ebx
	jns	.L6
.L4:
	sbbb	$-1, 192(%rsp)
	jns	.L6
.L5:
	adcw	%si, %dx
	pushq	$-237
	popq	%rbp
	leal	183(%rsi), %eax
	xorl	%r9d, 64(%rsp)
	cmpxchgw	%r8w, %bx
	jb	.L8
.L6:
	movabsq	$14582741531186801532, %rax
	jl	.L9
.L7:
	subb	%bl, %ah
	imulq	%rax
	andl	$2, %r9d
	sbbq	$2, %r10
	cmpq	209(%rsp), %r11
	js	.L9
.L8:
	btrl	%edx, %eax
	addw	%r9w, %r12w
	sbbw	81(%rsp), %r14w
	jo	.L11
.L9:
	btrq	%rdx, %rdx
	cmpl	%r8d, %r15d
	subw	%r15w, 65(%rsp)
	cmpw	$32767, 104(%rsp)
	movzwl	248(%rsp), %r9d
	jae	.L11
.L10:
	shldw	$12, %r9w, %r13w
	btcw	%bp, %r15w
	notw	%cx
	movzbw	%bl, %r15w
	incw	%ax
.L11:
	shrl	58(%rsp)
	xaddw	%r11w, %bp
	pushw	%cx
	popw	%r12w
	movq	8(%rsp), %rax
	addq	$264, %rsp
	.cfi_def_cfa_offset 56
	popq	%r15
	.cfi_def_cfa_offset 48
	popq	%r14
	.cfi_def_cfa_offset 40
	popq	%r13
	.cfi_def_cfa_offset 32
	popq	%r12
	.cfi_def_cfa_offset 24
	popq	%rbp
	.cfi_def_cfa_offset 16
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.LFE0:
	.size	random_blocks, .-random_blocks
	.ident	"GCC: (random) 12"
	.section	.note.GNU-stack,"",@progbits
