//go:build unix

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/tapeplay"
	"github.com/longterm-dev/longterm/session/tape"
)

func tapeVerb(a *app, c *cobra.Command) {
	var outputs []string
	var check bool
	c.Long = `Run a tape: a script that types into a shell and records pictures for documentation (` + "`longterm help tapes`" + `). Most VHS tapes
run unchanged. The shell runs in its own terminal, without its user's start files and without the daemon. FILE may
be - for standard input.

  longterm tape demo.tape

The tape names the files to write (Output, Screenshot): .gif, .apng, .svg, .cast; .mp4 and .webm if ffmpeg is
installed; screenshots also .html, .txt, .md and .json. Paths are relative to the current directory.

Exit status: 0 success, 1 a step failed (files up to that step are written), 2 the tape has mistakes.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := a.readTape(args[0])
		if err != nil {
			return exit.Usage(err)
		}
		for _, name := range t.Ignored {
			fmt.Fprintf(a.Stderr, "longterm: %s: %s ignored (no effect in longterm)\n", args[0], name)
		}
		if len(outputs) > 0 {
			t.Outputs = outputs
		}
		p := tapeplay.Production{Printer: &a.Printer, Tape: t, File: args[0]}
		if err := p.Check(); err != nil || check {
			return err
		}
		return p.Make(cmd.Context())
	}
	f := c.Flags()
	f.StringArrayVarP(&outputs, "output", "o", nil, "`FILE` to write instead of the tape's, repeatable")
	f.BoolVar(&check, "check", false, "check of the tape without a run")
}

// readTape reads a tape and the tapes that it includes. Their paths are relative to the tape.
func (a *app) readTape(file string) (*tape.Tape, error) {
	read := func(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, tape.MaxBytes+1)) }
	open := func(name string) (b []byte, err error) {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		b, err = read(f)
		return b, errors.Join(err, f.Close())
	}
	var src []byte
	var err error
	dir := "."
	if file == "-" {
		src, err = read(a.stdin)
	} else {
		src, err = open(file)
		dir = filepath.Dir(file)
	}
	if err != nil {
		return nil, err
	}
	return tape.Read(cmp.Or(strings.TrimPrefix(file, "-"), "standard input"), src, func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return open(name)
	})
}
