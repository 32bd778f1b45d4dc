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
// Every command that a line can run is judged: each segment of lists and pipes, what stands in
// substitutions, functions and here-documents, what is handed to sh -c, eval, env, sudo, xargs, find -exec
// and other programs that run programs (package programs has the table). Words are folded to what the
// shell will make of them: quotes, braces, assignments made earlier on the line, $HOME, the tilde.
//
// What cannot be known is asked about, never allowed: a program whose name is read at run time, text from
// the network that a shell runs, a line that does not parse. It is not proof against a determined
// program: only the kernel sees what is really run. The engine judges what is written.
package policy
