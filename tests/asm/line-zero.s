# layout: f 1 0 2 1 3
	.file	"c.c"
	.text
	.globl	f
	.type	f, @function
f:
	.file	1 "c.c"
	.loc	1 4 0
	.cfi_startproc
	testl	%edi, %edi
	.loc	1 0 0
	je	.L2
	call	g
	.loc	1 9 1
	movl	$1, %eax
	ret
.L2:
	.loc	1 0 1
	call	h
	jmp	.L3
	.loc	1 12 1
.L3:
	ret
	.cfi_endproc
	.size	f, .-f
	.ident	"clang version 19"
	.section	.note.GNU-stack,"",@progbits
