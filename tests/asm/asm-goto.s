# layout: ag 5 0 2 1
# layout: tail 6 0 4 2 1 3
# layout: flags 7 0 3 2 | 1
	.file	"c3.c"
	.text
	.p2align 4
	.globl	ag
	.type	ag, @function
ag:
.LFB0:
	.cfi_startproc
#APP
# 2 "c3.c" 1
	testl %edi, %edi
	jz .L2
# 0 "" 2
#NO_APP
	jmp	h@PLT
	.p2align 4,,10
	.p2align 3
.L2:
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	data16	leaq	tls@tlsgd(%rip), %rdi
	.value	0x6666
	rex64
	call	__tls_get_addr@PLT
	movl	(%rax), %eax
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.LFE0:
	.size	ag, .-ag
	.p2align 4
	.globl	tail
	.type	tail, @function
tail:
.LFB1:
	.cfi_startproc
	cmpl	$3, %edi
	jg	.L9
#APP
# 3 "c3.c" 1
	nop
1:
	decl %eax
	jnz 1b
# 0 "" 2
#NO_APP
	testl	%edi, %edi
	jne	.L10
	movl	$7, %eax
	ret
	.p2align 4,,10
	.p2align 3
.L10:
	addl	$1, %edi
.L9:
	jmp	h@PLT
	.cfi_endproc
.LFE1:
	.size	tail, .-tail
	.p2align 4
	.globl	flags
	.type	flags, @function
flags:
.LFB2:
	.cfi_startproc
	ucomisd	%xmm1, %xmm0
	jp	.L12
	jne	.L12
	movl	$1, %edi
	jmp	h@PLT
	.p2align 4,,10
	.p2align 3
.L12:
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	movl	$2, %edi
	call	h@PLT
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	addl	$1, %eax
	ret
	.cfi_endproc
.LFE2:
	.size	flags, .-flags
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
