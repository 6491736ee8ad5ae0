# count: edges
	.file	"promoted.c"
	.text
	.type	leaf, @function
leaf:
.LFB0:
	.cfi_startproc
	xorl	%eax, %eax
	testq	%rsi, %rsi
	je	.L2
	jmp	.L3
.L4:
	addq	$1, %rdi
	cmpq	%rsi, %rdi
	je	.L2
.L3:
	cmpb	$0, (%rdi)
	jne	.L4
	addl	$1, %eax
	cmpl	$9, %eax
	jne	.L4
.L2:
	ret
	.cfi_endproc
.LFE0:
	.size	leaf, .-leaf
	.globl	caller
	.type	caller, @function
caller:
.LFB1:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	leaq	8(%rdi), %r11
	call	leaf
	movq	%r11, %rdi
	call	leaf
	movl	%eax, %ecx
.L7:
	movl	%ecx, %edx
	imull	%edx, %edx
	addl	%edx, (%rdi)
	subl	$1, %ecx
	jne	.L7
	cmpl	$5, %edx
.L8:
	leal	1(%rcx), %ecx
	ja	.L9
	call	free@PLT
	cmpl	$3, %eax
	jne	.L8
.L9:
	popq	%rbx
	.cfi_def_cfa_offset 8
	jmp	strlen@PLT
	.cfi_endproc
.LFE1:
	.size	caller, .-caller
	.globl	flags
	.type	flags, @function
flags:
.LFB2:
	.cfi_startproc
	xorl	%eax, %eax
.L12:
	addl	$3, %eax
	subl	$1, %edi
	cmpl	%esi, %eax
	jb	.L12
	seta	%al
	ret
	.cfi_endproc
.LFE2:
	.size	flags, .-flags
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
