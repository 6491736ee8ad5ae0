# layout: f 1 thread 0 4 2 5 6 | 3 1 7
	.file	"thread.c"
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	testl	%edi, %edi
	je	.L2
.L1:
	jmp	.L3
.L2:
	cmpl	$7, %edi
	jne	.L1
	jmp	.L4
.L3:
	xorl	%eax, %eax
	ret
.L4:
.L5:
	jmp	.L6
.L7:
	jmp	.L7
.L6:
	movl	$1, %eax
	jmp	.L7
	.cfi_endproc
	.size	f, .-f
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
