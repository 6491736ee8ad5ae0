# layout: f 1 0 3 1 2 4
	.file	"rotate.c"
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	movq	%rdi, %rbx
.L3:
	cmpb	$0, (%rbx)
	je	.L1
	call	g@PLT
	testl	%eax, %eax
	jne	.L1
	addq	$1, %rbx
	jmp	.L3
.L1:
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	f, .-f
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
