# layout: f 3 0 2 1
	.text
	.globl	f
	.type	f, @function
f:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	testl	%edi, %edi
	jne	.L2
	popq	%rbp
	.cfi_remember_state
	.cfi_restore 6
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L2:
	.cfi_restore_state
	leaq	8(%rbp), %rcx
	movq	0(%rbp), %rbp
	.cfi_restore 6
	.cfi_def_cfa 2, 8
	movq	%rcx, %rsp
	.cfi_def_cfa_register 7
	popq	%rcx
	.cfi_register 16, 2
	.cfi_def_cfa_offset 0
	jmp	*%rcx
	.cfi_endproc
	.size	f, .-f
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
