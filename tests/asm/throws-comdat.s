# layout: _Z4speci 3 0 9 2 4 | 1 3 11 5 6 7 8 10 5
	.file	"u.cc"
	.text
	.section	.text.unlikely._Z4speci,"axG",@progbits,_Z4speci,comdat
.LCOLDB0:
	.section	.text._Z4speci,"axG",@progbits,_Z4speci,comdat
.LHOTB0:
	.p2align 4
	.weak	_Z4speci
	.type	_Z4speci, @function
_Z4speci:
.LFB0:
	.cfi_startproc
	.cfi_personality 0x9b,DW.ref.__gxx_personality_v0
	.cfi_lsda 0x1b,.LLSDA0
	pushq	%r12
	.cfi_def_cfa_offset 16
	.cfi_offset 12, -16
	pushq	%rbp
	.cfi_def_cfa_offset 24
	.cfi_offset 6, -24
	pushq	%rbx
	.cfi_def_cfa_offset 32
	.cfi_offset 3, -32
	subq	$16, %rsp
	.cfi_def_cfa_offset 48
.LEHB0:
	call	_Z1hi@PLT
.LEHE0:
	leaq	15(%rsp), %rbx
	movq	%rbx, %rdi
	call	_ZN1DD1Ev@PLT
.L7:
	movl	$1, %ebp
.L6:
	movq	%rbx, %rdi
	call	_ZN1DD1Ev@PLT
	addq	$16, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 32
	movl	%ebp, %eax
	popq	%rbx
	.cfi_def_cfa_offset 24
	popq	%rbp
	.cfi_def_cfa_offset 16
	popq	%r12
	.cfi_def_cfa_offset 8
	ret
.L10:
	.cfi_restore_state
	movq	%rax, %rbp
	movq	%rdx, %r12
	jmp	.L2
	.globl	__gxx_personality_v0
	.section	.gcc_except_table,"a",@progbits
	.align 4
.LLSDA0:
	.byte	0xff
	.byte	0x9b
	.uleb128 .LLSDATT0-.LLSDATTD0
.LLSDATTD0:
	.byte	0x1
	.uleb128 .LLSDACSE0-.LLSDACSB0
.LLSDACSB0:
	.uleb128 .LEHB0-.LFB0
	.uleb128 .LEHE0-.LEHB0
	.uleb128 .L10-.LFB0
	.uleb128 0x5
.LLSDACSE0:
	.byte	0x7f
	.byte	0
	.byte	0
	.byte	0x7d
	.byte	0x3
	.byte	0x7d
	.align 4
	.long	DW.ref._ZTIi-.
	.long	DW.ref._ZTI1A-.
	.long	DW.ref._ZTI1B-.
.LLSDATT0:
	.byte	0x1
	.byte	0x2
	.byte	0
	.section	.text._Z4speci,"axG",@progbits,_Z4speci,comdat
	.cfi_endproc
	.section	.text.unlikely._Z4speci,"axG",@progbits,_Z4speci,comdat
	.cfi_startproc
	.cfi_personality 0x9b,DW.ref.__gxx_personality_v0
	.cfi_lsda 0x1b,.LLSDAC0
	.type	_Z4speci.cold, @function
_Z4speci.cold:
.LFSB0:
.L2:
	.cfi_def_cfa_offset 48
	.cfi_offset 3, -32
	.cfi_offset 6, -24
	.cfi_offset 12, -16
	leaq	15(%rsp), %rbx
	movq	%rbx, %rdi
	call	_ZN1DD1Ev@PLT
	cmpq	$3, %r12
	jne	.L4
	movq	%rbp, %rdi
	call	__cxa_begin_catch@PLT
	movl	(%rax), %ebp
	movl	%ebp, %edi
.LEHB1:
	call	_Z1hi@PLT
.LEHE1:
	cmpl	$3, %ebp
	jle	.L5
	call	__cxa_end_catch@PLT
	movl	$2, %ebp
	jmp	.L6
.L11:
	movq	%rax, %rbp
	movq	%rdx, %r12
	call	__cxa_end_catch@PLT
.L4:
	movq	%rbx, %rdi
	call	_ZN1DD1Ev@PLT
	addq	$1, %r12
	movq	%rbp, %rdi
	jne	.L15
.LEHB2:
	call	__cxa_call_unexpected@PLT
.L5:
	call	__cxa_end_catch@PLT
	jmp	.L7
.L15:
	call	_Unwind_Resume@PLT
.LEHE2:
	.cfi_endproc
.LFE0:
	.section	.gcc_except_table
	.align 4
.LLSDAC0:
	.byte	0xff
	.byte	0x9b
	.uleb128 .LLSDATTC0-.LLSDATTDC0
.LLSDATTDC0:
	.byte	0x1
	.uleb128 .LLSDACSEC0-.LLSDACSBC0
.LLSDACSBC0:
	.uleb128 .LEHB1-.LCOLDB0
	.uleb128 .LEHE1-.LEHB1
	.uleb128 .L11-.LCOLDB0
	.uleb128 0x3
	.uleb128 .LEHB2-.LCOLDB0
	.uleb128 .LEHE2-.LEHB2
	.uleb128 0
	.uleb128 0
.LLSDACSEC0:
	.byte	0x7f
	.byte	0
	.byte	0
	.byte	0x7d
	.byte	0x3
	.byte	0x7d
	.align 4
	.long	DW.ref._ZTIi-.
	.long	DW.ref._ZTI1A-.
	.long	DW.ref._ZTI1B-.
.LLSDATTC0:
	.byte	0x1
	.byte	0x2
	.byte	0
	.section	.text.unlikely._Z4speci,"axG",@progbits,_Z4speci,comdat
	.section	.text._Z4speci,"axG",@progbits,_Z4speci,comdat
	.size	_Z4speci, .-_Z4speci
	.section	.text.unlikely._Z4speci,"axG",@progbits,_Z4speci,comdat
	.size	_Z4speci.cold, .-_Z4speci.cold
.LCOLDE0:
	.text
.LHOTE0:
	.weak	_ZTS1A
	.section	.rodata._ZTS1A,"aG",@progbits,_ZTS1A,comdat
	.type	_ZTS1A, @object
	.size	_ZTS1A, 3
_ZTS1A:
	.string	"1A"
	.weak	_ZTI1A
	.section	.data.rel.ro._ZTI1A,"awG",@progbits,_ZTI1A,comdat
	.align 8
	.type	_ZTI1A, @object
	.size	_ZTI1A, 16
_ZTI1A:
	.quad	_ZTVN10__cxxabiv117__class_type_infoE+16
	.quad	_ZTS1A
	.weak	_ZTS1B
	.section	.rodata._ZTS1B,"aG",@progbits,_ZTS1B,comdat
	.type	_ZTS1B, @object
	.size	_ZTS1B, 3
_ZTS1B:
	.string	"1B"
	.weak	_ZTI1B
	.section	.data.rel.ro._ZTI1B,"awG",@progbits,_ZTI1B,comdat
	.align 8
	.type	_ZTI1B, @object
	.size	_ZTI1B, 16
_ZTI1B:
	.quad	_ZTVN10__cxxabiv117__class_type_infoE+16
	.quad	_ZTS1B
	.hidden	DW.ref._ZTI1A
	.weak	DW.ref._ZTI1A
	.section	.data.rel.local.DW.ref._ZTI1A,"awG",@progbits,DW.ref._ZTI1A,comdat
	.align 8
	.type	DW.ref._ZTI1A, @object
	.size	DW.ref._ZTI1A, 8
DW.ref._ZTI1A:
	.quad	_ZTI1A
	.hidden	DW.ref._ZTI1B
	.weak	DW.ref._ZTI1B
	.section	.data.rel.local.DW.ref._ZTI1B,"awG",@progbits,DW.ref._ZTI1B,comdat
	.align 8
	.type	DW.ref._ZTI1B, @object
	.size	DW.ref._ZTI1B, 8
DW.ref._ZTI1B:
	.quad	_ZTI1B
	.hidden	DW.ref._ZTIi
	.weak	DW.ref._ZTIi
	.section	.data.rel.local.DW.ref._ZTIi,"awG",@progbits,DW.ref._ZTIi,comdat
	.align 8
	.type	DW.ref._ZTIi, @object
	.size	DW.ref._ZTIi, 8
DW.ref._ZTIi:
	.quad	_ZTIi
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
