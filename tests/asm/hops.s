# layout: walk 1 0! 1! 2 3! 4 | 5
	.file	"hops.c"
	.text
	.p2align 4
	.globl	walk
	.type	walk, @function
walk:
	.cfi_startproc
	xorl	%eax, %eax
.L2:
	movzbl	(%rdi), %edx
	testb	$1, %dl
	je	.L3
	addl	$3, %eax
.L3:
	addq	$1, %rdi
	testb	$2, %dl
	jne	.L2
	testb	%dl, %dl
	jne	.L2
	ret
	.cfi_endproc
	.size	walk, .-walk
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
