# count: blocks
	.file	"count.c"
	.text
	.p2align 4
	.globl	order
	.type	order, @function
order:
.LFB0:
	.cfi_startproc
	endbr64
	subq	$24, %rsp
	.cfi_def_cfa_offset 32
	comisd	%xmm1, %xmm0
	jp	.L3
	je	.L2
.L3:
	ja	.L4
	addq	$24, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	jmp	less@PLT
.L2:
	.cfi_restore_state
	xorl	%eax, %eax
	addq	$24, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
.L4:
	.cfi_restore_state
	call	more@PLT
	testl	%eax, %eax
	je	.L2
	addq	$24, %rsp
	.cfi_def_cfa_offset 8
	jne	odd
	ret
	.cfi_endproc
.LFE0:
	.size	order, .-order
	.section	.text.same,"axG",@progbits,same,comdat
	.p2align 4
	.weak	same
	.type	same, @function
same:
.LFB1:
	.cfi_startproc
	movl	$1, %eax
.L7:
	addl	%eax, %eax
	subl	$1, %edi
	jne	.L7
	ret
	.cfi_endproc
.LFE1:
	.size	same, .-same
	.section	.init.text,"ax",@progbits
	.type	stays, @function
stays:
.LFB2:
	.cfi_startproc
	testl	%edi, %edi
	je	.L9
	call	order
.L9:
	ret
	.cfi_endproc
.LFE2:
	.size	stays, .-stays
	.text
	.type	opaque, @function
opaque:
.LFB3:
	.cfi_startproc
	.cfi_escape 0x2d
	endbr64
	call	order
	ret
	.cfi_endproc
.LFE3:
	.size	opaque, .-opaque
	.globl	framed
	.type	framed, @function
framed:
.LFB4:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	ucomisd	%xmm1, %xmm0
	jp	.L12
	je	.L11
.L12:
	ja	.L13
	popq	%rbp
	.cfi_remember_state
	.cfi_def_cfa 7, 8
	ret
.L11:
	.cfi_restore_state
	xorl	%eax, %eax
.L13:
	popq	%rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
.LFE4:
	.size	framed, .-framed
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
