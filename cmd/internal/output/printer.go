// Package output prints the results of verbs: as text, as JSON or as brief JSON (Printer); a session's bytes as text,
// raw, by stream and within a budget (Writer); screens and images in their formats; and the wording of states, times
// and problems. It sends no requests and knows no verb.
//
// Offsets and budgets are in bytes. Only this package makes text printable for a terminal.
package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
)

// Printer prints results as text, as JSON or as brief JSON, as the flags choose.
type Printer struct {
	Stdout, Stderr io.Writer
	JSON, brief    bool
	Color          Color
	// Copy describes the replica that an answer comes from, or is nil for an answer from the host itself. JSON objects
	// have it as their member "copy".
	Copy *api.FleetCopy
}

// Color is when to use colour: auto (on a terminal, unless $NO_COLOR is set or $TERM is dumb), always or never. It is a flag's value.
type Color string

func (c *Color) String() string { return cmp.Or(string(*c), "auto") }

// Type returns what help shows for the value.
func (c *Color) Type() string { return "when" }

// Set accepts auto, always and never.
func (c *Color) Set(s string) error {
	if s != "auto" && s != "always" && s != "never" {
		return errors.New("use auto, always or never")
	}
	*c = Color(s)
	return nil
}

// TableLook returns how tables are shown: within the terminal's width, in colour if the terminal and the flags allow it.
func (p *Printer) TableLook() listing.TableFormat {
	width := termio.Width(p.Stdout)
	colour := p.Color == "always" || p.Color != "never" && width > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return listing.TableFormat{Width: width, Colour: colour}
}

// JSONFlag adds --json to a verb.
func (p *Printer) JSONFlag(c *cobra.Command) *cobra.Command {
	f := c.Flags().VarPF(jsonMode{p}, "json", "", "JSON output; --json=brief: compact, without null, default and known fields")
	f.NoOptDefVal = "true"
	return c
}

// Done adds --json to a verb without output: with --json it prints that the verb has succeeded.
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
	OK bool `json:"ok"` // done is the JSON output of a verb that only succeeds or fails.
}

// Path makes c print the path of a file, and adds --json.
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

// Print writes v as JSON with --json. Else it calls text.
func (p *Printer) Print(v any, text func(io.Writer)) error {
	if p.brief {
		return encodeCompact(p.Stdout, p.markReplica(brief(v)))
	}
	if p.JSON {
		return EncodeJSON(p.Stdout, p.markReplica(v))
	}
	if text == nil {
		return nil
	}
	var b strings.Builder
	text(&b)
	_, err := io.WriteString(p.Stdout, b.String())
	return err
}

// PrintEmpty prints that a table is empty, on a terminal only: scripts get no line.
func (p *Printer) PrintEmpty(text string) {
	if look := p.TableLook(); look.Width > 0 && !p.JSON {
		fmt.Fprintln(p.Stdout, listing.StyleIf(look.Colour, listing.Faint).Apply(text))
	}
}

// markReplica adds the member "copy" to a value's JSON, an object or a list of objects, if the answer comes from a replica.
func (p *Printer) markReplica(v any) any {
	if p.Copy == nil {
		return v
	}
	of, err := json.Marshal(p.Copy)
	if err != nil {
		return v
	}
	var raw bytes.Buffer
	if encodeCompact(&raw, v) != nil {
		return v // the encoder will return the same error
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

// withMember appends a member to a JSON object. It returns other values unchanged.
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

// EncodeJSON writes v as indented JSON, like all verbs.
func EncodeJSON(w io.Writer, v any) error {
	if list, ok := v.([]api.FleetSession); ok { // which may be of a hundred thousand
		return api.FleetSessions(list).WriteJSON(w, true)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// PrintError prints an error on standard error: as one line, or as JSON in the API's form.
func (p *Printer) PrintError(err error, asJSON bool) {
	if asJSON {
		_ = encodeCompact(p.Stderr, exit.APIError(err)) // a failed write cannot be reported
		return
	}
	msg := err.Error()
	if exit.IsInterrupted(err) {
		msg = "interrupted"
	}
	// Messages of joined errors come in lines; a user reads one.
	fmt.Fprintf(p.Stderr, "longterm: %s\n", strings.ReplaceAll(msg, "\n", "; "))
}

// encodeCompact writes JSON in a line.
func encodeCompact(w interface{ Write([]byte) (int, error) }, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Printable returns s with control characters made visible.
func Printable(s string) string { return listing.Printable(s) }

// Shorten returns s truncated to n cells.
func Shorten(s string, n int) string { return listing.Shorten(s, n) }

// PrintLine prints a result as JSON in a line.
func (p *Printer) PrintLine(r *api.Result) error {
	if p.brief {
		return encodeCompact(p.Stdout, brief(*r))
	}
	return json.NewEncoder(p.Stdout).Encode(r)
}

// PrintCompact prints one of a series of values: with --json as a line of JSON, else as text.
func (p *Printer) PrintCompact(v any, text func(io.Writer)) error {
	switch {
	case p.brief:
		return encodeCompact(p.Stdout, brief(v))
	case p.JSON:
		return encodeCompact(p.Stdout, v)
	}
	return p.Print(v, text)
}

// Warn prints an error that does not stop the verb.
func (p *Printer) Warn(err error) {
	fmt.Fprintf(p.Stderr, "longterm: %s\r\n", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// CountNoun returns a count with its noun in singular or plural.
func CountNoun(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
