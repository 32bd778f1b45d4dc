package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
)

// printer prints results as the flags ask for: as text, as JSON, or as JSON in few bytes.
type printer struct {
	stdout, stderr io.Writer
	json, brief    bool
}

// jsonFlag gives a verb --json.
func (p *printer) jsonFlag(c *cobra.Command) *cobra.Command {
	f := c.Flags().VarPF(jsonMode{p}, "json", "", "print JSON; --json=brief: in few bytes, without what is null, usual or known to whoever asks")
	f.NoOptDefVal = "true"
	return c
}

// jsonMode is the value of --json: true, false, or brief.
type jsonMode struct{ p *printer }

func (j jsonMode) Set(s string) error {
	switch s {
	case "true", "full", "1":
		j.p.json, j.p.brief = true, false
	case "brief":
		j.p.json, j.p.brief = true, true
	case "false", "0":
		j.p.json, j.p.brief = false, false
	default:
		return errors.New("give --json or --json=brief")
	}
	return nil
}

func (j jsonMode) Type() string { return "bool" } // for help: it needs no value

func (j jsonMode) String() string {
	switch {
	case j.p == nil || !j.p.json:
		return "false"
	case j.p.brief:
		return "brief"
	}
	return "true"
}

// print writes v as JSON with --json, else what text writes.
func (p *printer) print(v any, text func(io.Writer)) error {
	if p.brief {
		return encodeCompact(p.stdout, brief(v))
	}
	if p.json {
		return encodeJSON(p.stdout, v)
	}
	if text == nil {
		return nil
	}
	var b strings.Builder
	text(&b)
	_, err := io.WriteString(p.stdout, b.String())
	return err
}

// encodeJSON writes JSON as all verbs do.
func encodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// tell says what went wrong on standard error: in a line, or as JSON as the API does.
func (p *printer) tell(err error, asJSON bool) {
	if asJSON {
		_ = encodeCompact(p.stderr, exit.APIError(err)) // there is nowhere else to say it
		return
	}
	msg := err.Error()
	if exit.IsInterrupted(err) {
		msg = "interrupted"
	}
	// Messages of joined errors come in lines; a person reads one.
	fmt.Fprintf(p.stderr, "longterm: %s\n", strings.ReplaceAll(msg, "\n", "; "))
}

// encodeCompact writes JSON in a line.
func encodeCompact(w interface{ Write([]byte) (int, error) }, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, s)
}

// printLine prints a result as JSON in a line.
func (p *printer) printLine(r *api.Result) error {
	if p.brief {
		return encodeCompact(p.stdout, brief(*r))
	}
	return json.NewEncoder(p.stdout).Encode(r)
}

// warn tells of something that is no reason to stop.
func (p *printer) warn(err error) {
	fmt.Fprintf(p.stderr, "longterm: %s\r\n", strings.ReplaceAll(err.Error(), "\n", "; "))
}
