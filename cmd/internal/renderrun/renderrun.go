// Package renderrun implements the verb render: it turns bytes that a program wrote to a terminal into a screen, in one
// of several formats, for one input or a batch. It uses no daemon, session or terminal, and works on every system.
package renderrun

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/format"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/vterm"
)

// Renderer renders input without a daemon, as its flags describe.
type Renderer struct {
	*output.Printer
	Stdin *os.File

	cols, rows, scrollback int
	engine, resize         string
	replies, batch         bool
	output.ScreenFlags
}

// Register adds the flags.
func (r *Renderer) Register(f *pflag.FlagSet) {
	f.IntVar(&r.cols, "cols", 80, "width in cells")
	f.IntVar(&r.rows, "rows", 24, "height in cells")
	r.ScreenFlags.Add(f)
	f.StringVar(&r.engine, "engine", "", "`NAME` of the terminal emulator: "+strings.Join(session.EngineNames(), ", "))
	f.IntVar(&r.scrollback, "scrollback", -1, "`NUMBER` of scrollback lines to print too (json: all by default)")
	f.StringVar(&r.resize, "resize", "", "size `COLSxROWS` after the input")
	f.BoolVar(&r.batch, "batch", false, `many inputs: one JSON object {"id", "cols", "rows", "scrollback", "data" (base64)} per input line, {"id", "screen"} per output line`)
	f.BoolVar(&r.replies, "replies", false, "the terminal's replies to queries instead of the screen")
}

// rendered is the output of `render --format json`: the screen, and the replies and events that the input caused.
type rendered struct {
	render.Screen
	Scrollback []render.Line `json:"scrollback"`
	Replies    string        `json:"replies"` // base64
	Events     []event       `json:"events"`
}

// event is an emulator event in JSON.
type event struct {
	Kind string `json:"kind"`
	At   uint64 `json:"at"`             // offset in the input
	Name string `json:"name,omitempty"` // name of the event's subject, such as a variable
	Text string `json:"text,omitempty"`
	Num  int    `json:"num,omitempty"` // number of the event, such as an exit status
}

// Run renders the named file, or standard input.
func (r *Renderer) Run(args []string) error {
	if err := r.Check(r.Printer); err != nil {
		return err
	}
	if r.batch {
		return r.renderBatch(args)
	}
	if !vterm.ValidSize(r.cols, r.rows) {
		return exit.Usagef("size %d×%d: columns must be %d to %d, rows %d to %d",
			r.cols, r.rows, vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
	}
	engine, err := session.NewEngine(r.engine, vterm.Options{Cols: r.cols, Rows: r.rows})
	if err != nil {
		return exit.Usage(err)
	}
	out := rendered{Scrollback: []render.Line{}, Events: []event{}}
	var replies []byte
	if err := r.feed(engine, args, &out, &replies); err != nil {
		return err
	}
	if r.resize != "" {
		cols, rows, err := flagvalues.Size(r.resize)
		if err != nil {
			return err
		}
		if !vterm.ValidSize(cols, rows) {
			return exit.Usagef("--resize %s: columns must be %d to %d, rows %d to %d", r.resize, vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
		}
		engine.Resize(cols, rows)
	}
	if r.replies {
		_, err := r.Stdout.Write(replies)
		return err
	}
	out.Replies = base64.StdEncoding.EncodeToString(replies)
	return r.printRendered(engine, &out)
}

// feed writes the input to the emulator in pieces, so that it may be of any size.
func (r *Renderer) feed(e vterm.Engine, args []string, out *rendered, replies *[]byte) error {
	in, err := r.openInput(args)
	if err != nil {
		return err
	}
	defer in.Close()
	buf := make([]byte, 256<<10)
	for {
		n, err := in.Read(buf)
		out.feed(e, buf[:n], replies)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the input: %w", err)
		}
	}
}

// feed writes one piece of input to the emulator, and collects its replies and events.
func (out *rendered) feed(e vterm.Engine, p []byte, replies *[]byte) {
	_, _ = e.Write(p) // never fails
	r := e.Replies(nil)
	if len(*replies) < maxKept {
		*replies = append(*replies, r...)
	}
	for _, ev := range e.Events(nil) {
		if len(out.Events) < maxKept/64 {
			out.Events = append(out.Events, event{eventNames[ev.Kind], ev.At, ev.Name, ev.Text, ev.Num})
		}
	}
}

// openInput opens the named file; none, or "-", is standard input.
func (r *Renderer) openInput(args []string) (*os.File, error) {
	if len(args) > 0 && args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return nil, exit.Usage(err)
		}
		return f, nil
	}
	return r.Stdin, nil
}

// maxKept bounds the replies kept, in bytes.
const maxKept = 16 << 20

var eventNames = map[vterm.EventKind]string{
	vterm.EventBell: "bell", vterm.EventTitle: "title", vterm.EventIconLabel: "icon-label", vterm.EventCwd: "cwd",
	vterm.EventMark: "mark", vterm.EventNotify: "notification", vterm.EventProgress: "progress",
	vterm.EventClipboard: "clipboard", vterm.EventUserVar: "user-var", vterm.EventContext: "context",
	vterm.EventModes: "modes", vterm.EventAltScreen: "alt-screen", vterm.EventResize: "resize",
	vterm.EventSync: "sync", vterm.EventWindow: "window", vterm.EventReset: "reset", vterm.EventDropped: "lost",
}

func (r *Renderer) printRendered(e vterm.Engine, out *rendered) error {
	history := lastLines(e.History(), r.scrollbackLines(e))
	var f vterm.Frame
	e.Frame(&f, vterm.Query{HistoryFrom: e.History().Len() - len(history), HistoryTo: e.History().Len()}) // after the lines, with what they refer to
	if r.Format != "json" {
		o := r.Look
		o.Reversed = e.Modes().ReverseVideo
		b, err := format.Append(nil, r.Format, &f, history, o)
		if err != nil {
			return err
		}
		return r.PrintScreen(b, &r.ScreenFlags)
	}
	render.FromFrame(&out.Screen, &f)
	out.Scrollback = render.Lines(out.Scrollback, &f, history)
	if r.Look.NoColor {
		out.Screen.DropColors()
		(&render.Screen{Scrollback: out.Scrollback}).DropColors()
	}
	if r.Look.Trim {
		out.Screen.Trim()
	}
	return r.WriteOutput(r.Output, func(w io.Writer) error { return output.EncodeJSON(w, out) })
}

// scrollbackLines returns the number of scrollback lines to print: with JSON all of them by default.
func (r *Renderer) scrollbackLines(e vterm.Engine) int {
	if r.scrollback < 0 && r.Format == "json" {
		return e.History().Len()
	}
	return r.scrollback
}

// lastLines copies the newest n lines of the history.
func lastLines(h vterm.History, n int) []vterm.Line {
	n = min(max(n, 0), h.Len())
	lines := make([]vterm.Line, 0, n)
	for i := h.Len() - n; i < h.Len(); i++ {
		var l vterm.Line
		h.Line(i, &l)
		lines = append(lines, l)
	}
	return lines
}
