// Package output prints what verbs have to say: results as text, as JSON or as JSON in few bytes (Printer), a
// session's bytes as text, raw or stream by stream and within a budget (Writer), screens and pictures in their
// formats, and the words in which states, times and problems are told to people. It asks no daemon and knows no
// verb.
//
// Offsets and budgets are bytes; what is shown on a terminal is made printable here and nowhere else.
package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
)

// Printer prints results as the flags ask for: as text, as JSON, or as JSON in few bytes.
type Printer struct {
	Stdout, Stderr io.Writer
	JSON, brief    bool
	// Copy is what is said of an answer from a fleet's copy: objects of JSON have it as their member "copy". nil: it is of
	// a host itself.
	Copy *api.FleetCopy
}

// JSONFlag gives a verb --json.
func (p *Printer) JSONFlag(c *cobra.Command) *cobra.Command {
	f := c.Flags().VarPF(jsonMode{p}, "json", "", "print JSON; --json=brief: compact, without fields that are null, defaults or known to the caller")
	f.NoOptDefVal = "true"
	return c
}

// Done gives a verb that does something and has nothing to print --json: with it, it says that it was done.
func (p *Printer) Done(c *cobra.Command) *cobra.Command {
	do := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := do(cmd, args); err != nil {
			return err
		}
		return p.Print(done{true}, nil)
	}
	return p.JSONFlag(c)
}

type done struct {
	OK bool `json:"ok"`
}

// Path gives a verb that prints where a file is --json.
func (p *Printer) Path(c *cobra.Command, path func() (string, error)) *cobra.Command {
	c.RunE = func(*cobra.Command, []string) error {
		at, err := path()
		if err != nil {
			return err
		}
		return p.Print(struct {
			Path string `json:"path"`
		}{at}, func(w io.Writer) { fmt.Fprintln(w, at) })
	}
	return p.JSONFlag(c)
}

// jsonMode is the value of --json: true, false, or brief.
type jsonMode struct{ p *Printer }

func (j jsonMode) Set(s string) error {
	switch s {
	case "true", "full", "1":
		j.p.JSON, j.p.brief = true, false
	case "brief":
		j.p.JSON, j.p.brief = true, true
	case "false", "0":
		j.p.JSON, j.p.brief = false, false
	default:
		return errors.New("give --json or --json=brief")
	}
	return nil
}

func (j jsonMode) Type() string { return "bool" } // for help: it needs no value

func (j jsonMode) String() string {
	switch {
	case j.p == nil || !j.p.JSON:
		return "false"
	case j.p.brief:
		return "brief"
	}
	return "true"
}

// Print writes v as JSON with --json, else what text writes.
func (p *Printer) Print(v any, text func(io.Writer)) error {
	if p.brief {
		return encodeCompact(p.Stdout, p.marked(brief(v)))
	}
	if p.JSON {
		return EncodeJSON(p.Stdout, p.marked(v))
	}
	if text == nil {
		return nil
	}
	var b strings.Builder
	text(&b)
	_, err := io.WriteString(p.Stdout, b.String())
	return err
}

// marked is a value whose JSON says that it is from a copy: as an object, or as a list of them.
func (p *Printer) marked(v any) any {
	if p.Copy == nil {
		return v
	}
	of, err := json.Marshal(p.Copy)
	if err != nil {
		return v
	}
	var raw bytes.Buffer
	if encodeCompact(&raw, v) != nil {
		return v // whoever encodes it says why
	}
	var list []json.RawMessage
	if json.Unmarshal(raw.Bytes(), &list) == nil && list != nil {
		for i := range list {
			list[i] = withMember(list[i], "copy", of)
		}
		return list
	}
	return json.RawMessage(withMember(bytes.TrimSpace(raw.Bytes()), "copy", of))
}

// withMember is a JSON object with a member more, at its end; anything else is as it was.
func withMember(object []byte, name string, value []byte) []byte {
	n := len(object) - 1
	if n < 1 || object[0] != '{' || object[n] != '}' {
		return object
	}
	out := append([]byte{}, object[:n]...)
	if len(bytes.TrimSpace(object[1:n])) > 0 {
		out = append(out, ',')
	}
	return append(append(strconv.AppendQuote(out, name), ':'), append(value[:len(value):len(value)], '}')...)
}

// EncodeJSON writes JSON as all verbs do.
func EncodeJSON(w io.Writer, v any) error {
	if list, ok := v.([]api.FleetSession); ok { // which may be of a hundred thousand
		return api.FleetSessions(list).WriteJSON(w, true)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Tell says what went wrong on standard error: in a line, or as JSON as the API does.
func (p *Printer) Tell(err error, asJSON bool) {
	if asJSON {
		_ = encodeCompact(p.Stderr, exit.APIError(err)) // there is nowhere else to say it
		return
	}
	msg := err.Error()
	if exit.IsInterrupted(err) {
		msg = "interrupted"
	}
	// Messages of joined errors come in lines; a person reads one.
	fmt.Fprintf(p.Stderr, "longterm: %s\n", strings.ReplaceAll(msg, "\n", "; "))
}

// encodeCompact writes JSON in a line.
func encodeCompact(w interface{ Write([]byte) (int, error) }, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func Printable(s string) string      { return listing.Printable(s) }
func Shorten(s string, n int) string { return listing.Shorten(s, n) }

// PrintLine prints a result as JSON in a line.
func (p *Printer) PrintLine(r *api.Result) error {
	if p.brief {
		return encodeCompact(p.Stdout, brief(*r))
	}
	return json.NewEncoder(p.Stdout).Encode(r)
}

// PrintCompact writes v as JSON in a line with --json, else what text writes: for what comes one after another.
func (p *Printer) PrintCompact(v any, text func(io.Writer)) error {
	switch {
	case p.brief:
		return encodeCompact(p.Stdout, brief(v))
	case p.JSON:
		return encodeCompact(p.Stdout, v)
	}
	return p.Print(v, text)
}

// Warn tells of something that is no reason to stop.
func (p *Printer) Warn(err error) {
	fmt.Fprintf(p.Stderr, "longterm: %s\r\n", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// HowMany is a number and what is counted.
func HowMany(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
