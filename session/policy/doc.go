// Package policy judges command lines: allow, ask or deny.
//
//	Line ─▶ bound ─▶ parse ─▶ walk ─────────────▶ command ──────────────▶ Judgement
//	        size     shell    statements, words,   the table of programs,   the strictest verdict
//	        nesting  syntax   variables, pipes     hard denials, rules      of all commands
//
// The engine is pure: a line and the known state of its shell go in, a judgement comes out, without files, clock or
// environment. The same line always gets the same judgement. An Engine is immutable after New; several goroutines may
// call its methods.
//
// An analyzer walks through one line. Its parts are separate types:
//
//	expander    the shell's expansion of words                  word.go param.go zsh.go
//	shellState  variables, functions, options of the shell      scope.go state.go flow.go
//	files       places, and files the line itself creates       paths.go createdfiles.go build.go selfprotect.go
//	wrapping    programs that run the command they are given    wrap.go
//	delegations operands, options, variables that are code      operands.go loads.go
//	codeReader  code of other languages                         code.go computed.go sedawk.go windows.go
//	guesser     unknown programs                                guess.go
//	hardRules   the built-in denials                            hard.go selfprotect.go criticalpaths.go; the table of package damage
//	presets     preset and rules applied to one command         base.go build.go allow.go rule.go
//	verdicts    the findings so far                             risk.go
//
// The lower ones (files, shellState, verdicts, presets) do not know the analyzer. The others reach more of the line
// only through their host.
//
// Every command that a line can run is judged: each segment of lists and pipes, the content of substitutions, functions
// and here-documents, and what is passed to sh -c, eval, env, sudo, xargs, find -exec and other programs that run
// programs (package programs has the table, including the variables that configure them). Words are expanded as the
// shell will do it: quotes, braces, earlier assignments, $HOME, the tilde.
//
// Unknown commands need approval and are never allowed: a program name read at run time, network text that a shell
// runs, an unparsable line. The engine judges what is written. It cannot stop a determined program: only the kernel
// sees what really runs.
package policy
