# layout: frame 0 0 2 3 1 4 pad:21
# A block may end with an instruction that changes the frame: the state behind it
# holds for the jump that the order asks for.
	.file	"unwind.c"
	.text
	.globl	frame
	.type	frame, @function
frame:
	.cfi_startproc
	testl	%edi, %edi
	je	.L3
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
.L2:
	call	work@PLT
	subl	$1, %edi
	jne	.L2
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
.L3:
	ret
	.cfi_endproc
	.size	frame, .-frame
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
