# layout: _Z5plaini 3 0 2 1
# layout: _Z3mayi 4 0 2 | 1
	.file	"c4.cc"
	.text
	.section	.text.unlikely,"ax",@progbits
.LCOLDB0:
	.text
.LHOTB0:
	.p2align 4
	.globl	_Z3mayi
	.type	_Z3mayi, @function
_Z3mayi:
.LFB0:
	.cfi_startproc
	.cfi_personality 0x9b,DW.ref.__gxx_personality_v0
	.cfi_lsda 0x1b,.LLSDA0
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	pushq	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset 3, -24
	movl	%edi, %ebx
	subq	$24, %rsp
	.cfi_def_cfa_offset 48
	leaq	15(%rsp), %rbp
	movq	%rbp, %rdi
.LEHB0:
	call	_ZN1AC1Ev@PLT
.LEHE0:
	movl	%ebx, %edi
.LEHB1:
	call	_Z1hi@PLT
.LEHE1:
	movq	%rbp, %rdi
	movl	%eax, %ebx
	call	_ZN1AD1Ev@PLT
	addq	$24, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 24
	leal	1(%rbx), %eax
	popq	%rbx
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	ret
.L3:
	.cfi_restore_state
	movq	%rax, %rbx
	jmp	.L2
	.globl	__gxx_personality_v0
	.section	.gcc_except_table,"a",@progbits
.LLSDA0:
	.byte	0xff
	.byte	0xff
	.byte	0x1
	.uleb128 .LLSDACSE0-.LLSDACSB0
.LLSDACSB0:
	.uleb128 .LEHB0-.LFB0
	.uleb128 .LEHE0-.LEHB0
	.uleb128 0
	.uleb128 0
	.uleb128 .LEHB1-.LFB0
	.uleb128 .LEHE1-.LEHB1
	.uleb128 .L3-.LFB0
	.uleb128 0
.LLSDACSE0:
	.text
	.cfi_endproc
	.section	.text.unlikely
	.cfi_startproc
	.cfi_personality 0x9b,DW.ref.__gxx_personality_v0
	.cfi_lsda 0x1b,.LLSDAC0
	.type	_Z3mayi.cold, @function
_Z3mayi.cold:
.LFSB0:
.L2:
	.cfi_def_cfa_offset 48
	.cfi_offset 3, -24
	.cfi_offset 6, -16
	movq	%rbp, %rdi
	call	_ZN1AD1Ev@PLT
	movq	%rbx, %rdi
.LEHB2:
	call	_Unwind_Resume@PLT
.LEHE2:
	.cfi_endproc
.LFE0:
	.section	.gcc_except_table
.LLSDAC0:
	.byte	0xff
	.byte	0xff
	.byte	0x1
	.uleb128 .LLSDACSEC0-.LLSDACSBC0
.LLSDACSBC0:
	.uleb128 .LEHB2-.LCOLDB0
	.uleb128 .LEHE2-.LEHB2
	.uleb128 0
	.uleb128 0
.LLSDACSEC0:
	.section	.text.unlikely
	.text
	.size	_Z3mayi, .-_Z3mayi
	.section	.text.unlikely
	.size	_Z3mayi.cold, .-_Z3mayi.cold
.LCOLDE0:
	.text
.LHOTE0:
	.p2align 4
	.globl	_Z5plaini
	.type	_Z5plaini, @function
_Z5plaini:
.LFB1:
	.cfi_startproc
	cmpl	$2, %edi
	jle	.L9
	jmp	_Z1hi@PLT
	.p2align 4,,10
	.p2align 3
.L9:
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	addl	$2, %edi
	call	_Z1hi@PLT
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	leal	(%rax,%rax,2), %eax
	ret
	.cfi_endproc
.LFE1:
	.size	_Z5plaini, .-_Z5plaini
	.hidden	DW.ref.__gxx_personality_v0
	.weak	DW.ref.__gxx_personality_v0
	.section	.data.rel.local.DW.ref.__gxx_personality_v0,"awG",@progbits,DW.ref.__gxx_personality_v0,comdat
	.align 8
	.type	DW.ref.__gxx_personality_v0, @object
	.size	DW.ref.__gxx_personality_v0, 8
DW.ref.__gxx_personality_v0:
	.quad	__gxx_personality_v0
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
