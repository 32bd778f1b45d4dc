// Package shell knows what a shell is doing: at its prompt, or running which command
// since when, and how commands ended.
//
//	Detect ─▶ Prepare: argv and environment under which the shell loads scripts/*
//	bytes ─▶ vterm.Event ─▶ FromVterm ─▶ Tracker ─▶ State, Changes (Command records)
//	state directory ─▶ ReadEnv ─▶ DiffEnv: what a command changed in the environment
//	Wrap: a command line with marks of its own, for shells without integration
//
// The scripts print marks (OSC 133) around each command. A mark carries the session's
// nonce in its parameter "lt"; the shell keeps the nonce in a variable that no child
// inherits, so that neither output nor a shell within the shell can forge one. Marks
// without it are foreign and change nothing.
//
//	133;A;lt=N;n=7;exit=0;cwd=/tmp   the prompt begins, the seventh; status of the last command;
//	                                 with b=1, mark B will follow; with kept=1, the line
//	                                 was refused and stays in the editor
//	133;A;k=s;lt=N                   the shell asks for the rest of a line
//	133;B;lt=N[;exit=0]              the prompt ends, input begins
//	133;C;lt=N;cmdline_url=ls%0A     a command's output begins
//	133;D;1;lt=N                     it ends, with status 1
//
// # Quality
//
// What is known is never more than what was said: Full has all marks, Basic a prompt
// and a status (a command's start is when its line was typed), None nothing.
//
// # Ownership and units
//
// Tracker is a pure machine owned by the session's goroutine: no clock, no I/O. Offsets
// count the session's output bytes. Prepare and ReadEnv touch only the private directory
// they are given.
package shell
