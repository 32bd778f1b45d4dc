// Package shell tracks the state of a shell: at its prompt, or running a command, and how commands ended.
//
//	Detect ─▶ Prepare: argv and environment with which the shell loads scripts/*
//	bytes ─▶ vterm.Event ─▶ FromVterm ─▶ Tracker ─▶ State, Changes (Command records)
//	state directory ─▶ ReadEnv ─▶ DiffEnv: a command's changes of the environment
//	Wrap: a command line that prints its own marks, for shells without integration
//
// The scripts print marks (OSC 133) around each command. A mark has the session's nonce in its parameter "lt". The
// shell reads it from a file that it empties, and keeps it in a variable that no child inherits: neither output nor a
// nested shell can forge a mark. Marks without the nonce are foreign and change nothing. A mark also has its number
// among all marks, "m". Each number is accepted once and only in order, so that repeated output of the session changes
// nothing either.
//
//	133;A;lt=N;m=25;n=7;exit=0;cwd=/tmp  start of the prompt, the seventh; status of the last
//	                                     command; with b=1, mark B will follow; with kept=1,
//	                                     the line was not run and stays in the editor; with
//	                                     g=1, the editor supports LiteralKey
//	133;A;k=s;lt=N;m=27                  the shell waits for the rest of a line (PS2)
//	133;B;lt=N;m=26[;exit=0]             end of the prompt, start of input
//	133;C;lt=N;m=28;cmdline_url=ls%0A    start of a command's output
//	133;D;1;lt=N;m=29                    its end, with status 1
//
// # Quality
//
// Quality is the extent of the known state: Full has all marks, Basic a prompt and a status (a command's start is the
// time when its line was typed), None nothing.
//
// # Ownership and units
//
// Tracker is a state machine owned by the session's goroutine: no clock, no I/O. Offsets count the session's output
// bytes. Prepare and ReadEnv access only the private directory that they are given.
package shell
