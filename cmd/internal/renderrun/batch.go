package renderrun

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/vterm"
)

// batchInput is a line of `render --batch`. Sizes of 0 mean the flags'.
type batchInput struct {
	ID         json.RawMessage `json:"id"`
	Cols       int             `json:"cols"`
	Rows       int             `json:"rows"`
	Scrollback *int            `json:"scrollback"` // lines of scrollback to return; default: all
	Data       []byte          `json:"data"`       // base64
}

// batchOutput is the answer to a line of `render --batch`.
type batchOutput struct {
	ID     json.RawMessage `json:"id"`
	Screen *rendered       `json:"screen,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// renderBatch renders one input per line. An invalid line gets an error as its answer, and the next lines are still
// rendered.
func (r *Renderer) renderBatch(args []string) error {
	in, err := r.openInput(args)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := bufio.NewReaderSize(in, 1<<20)
	out := bufio.NewWriter(r.Stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for {
		line, readErr := lines.ReadBytes('\n')
		if len(line) > 1 {
			if err := enc.Encode(renderOne(r, line)); err != nil {
				return err
			}
		}
		if lines.Buffered() == 0 || readErr != nil { // callers that write line by line get answers line by line
			if err := out.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(readErr, io.EOF) {
			return nil
		}
		if readErr != nil {
			return fmt.Errorf("read the batch: %w", readErr)
		}
	}
}

func renderOne(r *Renderer, line []byte) batchOutput {
	in := batchInput{Cols: r.cols, Rows: r.rows}
	if err := json.Unmarshal(line, &in); err != nil {
		return batchOutput{Error: "not a batch input: " + err.Error()}
	}
	if in.Cols == 0 && in.Rows == 0 {
		in.Cols, in.Rows = r.cols, r.rows
	}
	if !vterm.ValidSize(in.Cols, in.Rows) {
		return batchOutput{ID: in.ID, Error: fmt.Sprintf("size %d×%d: columns must be %d to %d, rows %d to %d",
			in.Cols, in.Rows, vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)}
	}
	e, err := session.NewEngine(r.engine, vterm.Options{Cols: in.Cols, Rows: in.Rows})
	if err != nil {
		return batchOutput{ID: in.ID, Error: err.Error()}
	}
	screen := &rendered{Scrollback: []render.Line{}, Events: []event{}}
	var replies []byte
	screen.feed(e, in.Data, &replies)
	screen.Replies = base64.StdEncoding.EncodeToString(replies)
	want := e.History().Len()
	if in.Scrollback != nil {
		want = *in.Scrollback
	}
	history := lastLines(e.History(), want)
	var f vterm.Frame
	e.Frame(&f, vterm.Query{HistoryFrom: e.History().Len() - len(history), HistoryTo: e.History().Len()}) // after the lines, with what they refer to
	render.FromFrame(&screen.Screen, &f)
	screen.Scrollback = render.Lines(screen.Scrollback, &f, history)
	return batchOutput{ID: in.ID, Screen: screen}
}
