// Package shell knows what a shell is doing: at its prompt, or running which command
// since when, and how commands ended.
//
//	Detect ─▶ Prepare: argv and environment under which the shell loads scripts/*
//	bytes ─▶ vterm.Event ─▶ FromVterm ─▶ Tracker ─▶ State, Changes (Command records)
//	state directory ─▶ ReadEnv ─▶ DiffEnv: what a command changed in the environment
//	Wrap: a command line with marks of its own, for shells without integration
//
// The scripts print marks (OSC 133) around each command. A mark carries the session's
// nonce in its parameter "lt". The shell reads it from a file that it empties, and keeps it
// in a variable that no child inherits: neither output nor a shell within the shell can
// forge one. Marks without it are foreign and change nothing. A mark also carries its place
// among all marks, "m"; each place is taken once and only in order, so that the session's
// own output, shown again, changes nothing either.
//
//	133;A;lt=N;m=25;n=7;exit=0;cwd=/tmp  the prompt begins, the seventh; status of the last
//	                                     command; with b=1, mark B will follow; with kept=1,
//	                                     the line was refused and stays in the editor; with
//	                                     g=1, the editor knows GivenKey
//	133;A;k=s;lt=N;m=27                  the shell asks for the rest of a line
//	133;B;lt=N;m=26[;exit=0]             the prompt ends, input begins
//	133;C;lt=N;m=28;cmdline_url=ls%0A    a command's output begins
//	133;D;1;lt=N;m=29                    it ends, with status 1
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
