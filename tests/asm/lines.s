# layout: walk 1 offset:36 0 1 2 4:5 3
	.file	"lines.c"
	.text
	.p2align 4
	.globl	walk
	.type	walk, @function
walk:
	.cfi_startproc
	xorl	%eax, %eax
.L2:
	addb	(%rdi), %al
	addq	$1, %rdi
	testb	%al, %al
	jne	.L2
	cmpl	$7, %esi
	je	.L4
	ret
.L4:
	addl	$1, %eax
	jmp	.L2
	.cfi_endproc
	.size	walk, .-walk
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
