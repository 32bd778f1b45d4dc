// Package policy judges command lines: allow, ask or deny.
//
//	Line ─▶ bound ─▶ parse ─▶ walk ─────────────▶ command ──────────────▶ Judgement
//	        size     shell    statements, words,   the table of programs,   the strictest verdict
//	        nesting  syntax   variables, pipes     hard denials, rules      of all commands
//
// The engine is pure. A line and what is known of its shell go in, a judgement comes out: no file is
// read, no clock, no environment. The same line always gets the same judgement. An Engine is not
// changed after New; all its methods may be called by several goroutines.
//
// A walk goes through one line. What it comes by is the business of its parts, each a type of its own:
//
//	expander    what the shell makes of words                   word.go param.go zsh.go
//	shellState  variables, functions, options of the shell      scope.go state.go flow.go
//	files       places, and what the line itself makes          paths.go made.go build.go own.go
//	wrapping    programs that run the command they are given    wrap.go
//	handovers   operands, options, variables that are code      operands.go loads.go
//	codeReader  code of other languages                         code.go computed.go sedawk.go windows.go
//	guesser     programs that are not known                     guess.go
//	hardRules   the built-in denials                            hard.go own.go vital.go; the table of package damage
//	presets     what preset and rules say of one command        base.go build.go allow.go rule.go
//	verdicts    what was found so far                           risk.go
//
// The lower ones (files, shellState, verdicts, presets) know nothing of the walk. The others follow more of the line by
// their host alone.
//
// Every command that a line can run is judged: each segment of lists and pipes, what stands in substitutions, functions
// and here-documents, what is handed to sh -c, eval, env, sudo, xargs, find -exec and other programs that run programs
// (package programs has the table, also of the variables by which they are told). Words are folded to what the shell will
// make of them: quotes, braces, assignments made earlier on the line, $HOME, the tilde.
//
// What cannot be known is asked about, never allowed: a program whose name is read at run time, text from
// the network that a shell runs, a line that does not parse. It is not proof against a determined
// program: only the kernel sees what is really run. The engine judges what is written.
package policy
