// Package headless turns bytes that a program wrote to a terminal into the screen they make, in a format, one
// input or a batch of them, on every system: there is no daemon, no session and no terminal in it.
package headless

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/values"
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/format"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/vterm"
)

// headless renders without a daemon, as flags say.
type Renderer struct {
	*output.Printer
	Stdin *os.File

	cols, rows, scrollback int
	engine, resize         string
	replies, batch         bool
	output.ScreenFlags
}

// add registers the flags.
func (r *Renderer) Register(f *pflag.FlagSet) {
	f.IntVar(&r.cols, "cols", 80, "width in cells")
	f.IntVar(&r.rows, "rows", 24, "height in cells")
	r.ScreenFlags.Add(f)
	f.StringVar(&r.engine, "engine", "", "terminal emulator: "+strings.Join(session.EngineNames(), ", "))
	f.IntVar(&r.scrollback, "scrollback", -1, "print this many lines of history as well (json: all by default)")
	f.StringVar(&r.resize, "resize", "", "resize to COLSxROWS after the input")
	f.BoolVar(&r.batch, "batch", false, `render many inputs: a JSON object {"id", "cols", "rows", "scrollback", "data" (base64)} a line in, {"id", "screen"} a line out`)
	f.BoolVar(&r.replies, "replies", false, "print what the terminal answered to queries instead of the screen")
}

// rendered is what `render --format json` prints: the screen, and what else came of
// the input.
type rendered struct {
	render.Screen
	Scrollback []render.Line `json:"scrollback"`
	Replies    string        `json:"replies"` // base64
	Events     []event       `json:"events"`
}

// event is an emulator event in JSON.
type event struct {
	Kind string `json:"kind"`
	At   uint64 `json:"at"`
	Name string `json:"name,omitempty"`
	Text string `json:"text,omitempty"`
	Num  int    `json:"num,omitempty"`
}

// Run renders the input named, or standard input.
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
		cols, rows, err := values.Size(r.resize)
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

// feed streams the input through the emulator; input of any size is read in pieces.
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

// feed takes one piece of input and what the emulator has to say to it.
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
	vterm.EventSync: "sync", vterm.EventWindow: "window", vterm.EventReset: "reset", vterm.EventLost: "lost",
}

func (r *Renderer) printRendered(e vterm.Engine, out *rendered) error {
	history := lastLines(e.History(), r.wanted(e))
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

// wanted is how many lines of history are asked for: all of them in JSON by default.
func (r *Renderer) wanted(e vterm.Engine) int {
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
