package history

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/checkpoint"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

func open(t *testing.T) (*journal.Journal, string) {
	t.Helper()
	dir := t.TempDir()
	j, _, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j, dir
}

// print puts output into a ring, as a keeper does.
func print(r *ring.Ring, text string) {
	for text != "" {
		n := copy(r.Room(), text)
		r.Publish(n)
		text = text[n:]
	}
}

// output is what a journal has.
func output(t *testing.T, j *journal.Journal) (text string, gap uint64) {
	t.Helper()
	r := j.NewReader(0)
	defer r.Close()
	for {
		switch rec, err := r.Next(); {
		case errors.Is(err, io.EOF):
			return text, gap
		case err != nil:
			t.Fatal(err)
		case rec.Kind == journal.KindOutput:
			text += string(rec.Data)
		case rec.Kind == journal.KindGap:
			gap += rec.Lost
		}
	}
}

// The journal has each byte once and at its own offset, whatever its owner believes.
//
// FAULT: A1
func TestEachByteOnce(t *testing.T) {
	j, _ := open(t)
	var r Recorder
	r.Begin(j, nil)
	for _, c := range []struct {
		off  uint64
		data string
	}{{0, "abc"}, {1, "bcde"}, {0, "abc"}, {7, "hi"}} {
		if err := r.Append(c.off, []byte(c.data)); err != nil {
			t.Fatal(err)
		}
	}
	if text, gap := output(t, j); text != "abcdehi" || gap != 2 || j.End() != 9 {
		t.Errorf("%q, a gap of %d, up to %d", text, gap, j.End())
	}
}

// What could not be journaled is caught up with from the ring; what was given up meanwhile is a gap.
//
// FAULT: C1
func TestRetry(t *testing.T) {
	j, _ := open(t)
	rg := ring.Local(ring.MinSize)
	var r Recorder
	r.Begin(j, rg)
	r.Fail()
	if r.Output(0, nil) != nil || r.Mark([]byte{1}) != nil || !r.Failing() {
		t.Error("nothing is tried while it fails")
	}
	print(rg, "lost and found")
	r.MakeRoom(14)
	if r.Done() != 0 {
		t.Errorf("given up up to %d: there is room", r.Done())
	}
	if err := r.Skip(5); err != nil || r.Done() != 5 {
		t.Error(err)
	}
	gap, ok := r.Retry(14)
	text, lost := output(t, j)
	if !ok || gap != 9 || text != "and found" || lost != 5 || r.Failing() || r.Done() != 14 {
		t.Errorf("%d, %v: %q with a gap of %d, done to %d", gap, ok, text, lost, r.Done())
	}
}

// Once what cannot be journaled fills most of the ring it is given up.
//
// FAULT: C1
func TestMakeRoom(t *testing.T) {
	j, _ := open(t)
	rg := ring.Local(ring.MinSize)
	var r Recorder
	r.Begin(j, rg)
	r.Fail()
	most := uint64(rg.Cap()) / 4 * 3
	if r.MakeRoom(most); r.Done() != 0 {
		t.Error("too early")
	}
	if r.MakeRoom(most + 1); r.Done() != most+1 {
		t.Error("the program is held up")
	}
}

// Streams are told from what is remembered, and from the journal's marks.
//
// FEATURES: R4
func TestStreams(t *testing.T) {
	j, _ := open(t)
	rg := ring.Local(ring.MinSize)
	rg.Separate()
	var r Recorder
	r.Begin(j, rg)
	r.StandAt(0)
	for i, text := range []string{"out", "err", "out again"} {
		n := copy(rg.RoomFor(ring.Stream(i%2)), text)
		rg.PublishAs(ring.Stream(i%2), n)
		off := r.Done()
		if err := r.Output(off, rg.BytesAt(off, n)); err != nil {
			t.Fatal(err)
		}
	}
	want := []StreamRun{{Stdout, 1}, {Stderr, 3}, {Stdout, 9}}
	got, err := r.Runs(j, 2, 15)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if err := r.Leave(); err != nil {
		t.Fatal(err)
	}
	var other Streams // which remembers nothing
	if got, err = other.Runs(j, 2, 15); err != nil || !slices.Equal(got, want) {
		t.Errorf("of the journal: %v, %v", got, err)
	}
	if end, apart := r.Known(); end != 15 || !apart || !r.HasStreams() {
		t.Errorf("known up to %d, %v", end, apart)
	}
}

// What is written stays in proportion to what was printed.
//
// FAULT: A20
func TestCheckpoints(t *testing.T) {
	var c Checkpoints
	for _, x := range []struct {
		size, off    uint64
		rest, floods bool
	}{
		{0, 0, false, false},
		{0, 1, true, false},
		{0, CheckpointBytes, true, true},
		{CheckpointBytes * 16, CheckpointBytes - 1, false, false},
		{CheckpointBytes * 16, CheckpointBytes, true, false},
		{CheckpointBytes * 16, CheckpointBytes * 16, true, false},
		{CheckpointBytes * 16, CheckpointBytes * 32, true, true},
	} {
		c.Wrote(0, x.size)
		if r, f := c.Worth(x.off, false), c.Worth(x.off, true); r != x.rest || f != x.floods {
			t.Errorf("%d bytes after one of %d: %v, %v", x.off, x.size, r, f)
		}
	}
	c.Wrote(0, 0)
	if c.C() != nil {
		t.Error("one is due")
	}
	if c.Grew(1); c.C() == nil {
		t.Error("none is due")
	}
	if c.Stop(); c.C() != nil {
		t.Error("one is due after all")
	}
}

// An emulator of back then is made from a checkpoint or a kept screen, the journal, and what is not in
// it yet.
//
// FEATURES: R91
func TestPast(t *testing.T) {
	j, dir := open(t)
	var r Recorder
	r.Begin(j, nil)
	if err := j.AppendResize(20, 3); err != nil {
		t.Fatal(err)
	}
	if err := r.Append(0, []byte("one\r\ntwo\r\n")); err != nil {
		t.Fatal(err)
	}
	p := &Past{Journal: j, Dir: dir, Engine: "e", Screens: NewScreens(dir), Unused: func(string, error) {}}
	newer := []byte("three")
	at := func(off uint64) string {
		t.Helper()
		e := vterm.New(vterm.Options{Cols: 20, Rows: 3})
		err := p.At(t.Context(), e, off, func(from uint64, buf []byte) ([]byte, uint64, error) {
			if from >= 15 { // "lost " is, and what comes next does not end where it was to
				return []byte("after"), from + 5 + 5, nil
			}
			n := copy(buf, newer[from-10:])
			return buf[:n], from + uint64(n), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return screen(e)
	}
	if got := at(3); got != "one\n\n\n" {
		t.Errorf("%q", got)
	}
	for off, want := range map[uint64]string{15: "three", 18: "three", 22: "threeaf", 25: "threeafter"} {
		if got := at(off); got != "one\ntwo\n"+want+"\n" {
			t.Errorf("at %d: %q", off, got)
		}
	}
	e := vterm.New(vterm.Options{Cols: 20, Rows: 3})
	_, _ = e.Write([]byte("other\r\n"))
	kept := checkpoint.Checkpoint{Engine: "e", Offset: 5, Time: time.Unix(1, 0), Snapshot: e.AppendSnapshot(nil)}
	if err := checkpoint.Write(dir, kept); err != nil {
		t.Fatal(err)
	}
	if got := at(10); got != "other\ntwo\n\n" {
		t.Errorf("from the checkpoint: %q", got)
	}
	if got := at(3); got != "one\n\n\n" {
		t.Errorf("from before the checkpoint: %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.At(ctx, vterm.New(vterm.Options{Cols: 20, Rows: 3}), 10, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	sc := NewScreens(dir)
	if sc.Due(CheckpointBytes-1) || !sc.Due(CheckpointBytes) {
		t.Error("a screen is kept for each so many bytes")
	}
	sc.MarkTaken(kept.Offset)
	if err := sc.Keep(kept); err != nil || sc.Due(CheckpointBytes) {
		t.Error(err)
	}
}

// A screen or a checkpoint that cannot be read, as that of a newer version, costs a replay and nothing that was printed.
//
// FEATURES: R91
func TestPastThatCannotBeRead(t *testing.T) {
	j, dir := open(t)
	var r Recorder
	r.Begin(j, nil)
	if err := j.AppendResize(20, 3); err != nil {
		t.Fatal(err)
	}
	text := append([]byte("one\r\ntwo\r\n"), bytes.Repeat([]byte{'\r'}, CheckpointBytes)...)
	if err := r.Append(0, text); err != nil {
		t.Fatal(err)
	}
	unused := 0
	p := &Past{Journal: j, Dir: dir, Engine: "e", Screens: NewScreens(dir), Unused: func(string, error) { unused++ }}
	e := vterm.New(vterm.Options{Cols: 20, Rows: 3})
	_, _ = e.Write(text[:5])
	older := checkpoint.Checkpoint{Engine: "e", Offset: 5, Time: time.Unix(1, 0), Snapshot: e.AppendSnapshot(nil)}
	newer := checkpoint.Checkpoint{Engine: "e", Offset: CheckpointBytes + 8, Time: time.Unix(2, 0), Snapshot: []byte("of a newer version")}
	if err := p.Screens.Keep(newer); err != nil {
		t.Fatal(err)
	}
	for _, c := range []checkpoint.Checkpoint{older, newer} {
		if err := checkpoint.Write(dir, c); err != nil {
			t.Fatal(err)
		}
		e := vterm.New(vterm.Options{Cols: 20, Rows: 3})
		if err := p.At(t.Context(), e, uint64(len(text)), nil); err != nil {
			t.Fatal(err)
		}
		if got := screen(e); got != "one\ntwo\n\n" {
			t.Errorf("with a checkpoint at %d: %q", c.Offset, got)
		}
	}
	if unused == 0 {
		t.Error("nobody is told of a checkpoint that is not used")
	}
}

// resized is an emulator that notes its sizes.
type resized struct {
	*vterm.Terminal
	sizes []int
}

func (e *resized) Resize(cols, rows int) {
	e.sizes = append(e.sizes, cols)
	e.Terminal.Resize(cols, rows)
}

// Sizes that a checkpoint has seen are not set again: of what does not fit a size more is lost each time. Those that came later
// at the same offset, with nothing printed in between, are.
//
// FEATURES: R91
func TestSizesOfACheckpoint(t *testing.T) {
	j, dir := open(t)
	var r Recorder
	r.Begin(j, nil)
	resize := func(cols int) {
		t.Helper()
		if err := j.AppendResize(cols, 3); err != nil {
			t.Fatal(err)
		}
	}
	resize(20)
	if err := r.Append(0, []byte("one")); err != nil {
		t.Fatal(err)
	}
	resize(5)
	resize(30)
	e := vterm.New(vterm.Options{Cols: 30, Rows: 3})
	c := checkpoint.Checkpoint{Engine: "e", Offset: 3, Time: time.Now(), Snapshot: e.AppendSnapshot(nil)}
	if err := checkpoint.Write(dir, c); err != nil {
		t.Fatal(err)
	}
	for time.Now().Equal(c.Time) {
	}
	resize(7)
	resize(40)
	if err := r.Append(3, []byte("two")); err != nil {
		t.Fatal(err)
	}
	resize(8)
	for _, replay := range []struct {
		until uint64
		want  []int
	}{
		{6, []int{7, 40, 8}},
		{2, []int{20, 20}}, // from the beginning: as the journal tells, and its first record
	} {
		again := &resized{Terminal: vterm.New(vterm.Options{})}
		p := &Past{Journal: j, Dir: dir, Engine: "e", Screens: NewScreens(dir), Unused: func(string, error) {}}
		if err := p.At(t.Context(), again, replay.until, nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.sizes, replay.want) {
			t.Errorf("up to %d: sizes %v, want %v", replay.until, again.sizes, replay.want)
		}
	}
}

// screen is an emulator's text.
func screen(e vterm.Engine) string {
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	var b []byte
	for i := range f.Lines {
		for _, c := range f.Lines[i].Cells {
			b = f.AppendText(b, c)
		}
		b = append(bytes.TrimRight(b, " "), '\n')
	}
	return string(b)
}

func TestRingReader(t *testing.T) {
	var rr RingReader
	buf := make([]byte, 10)
	if _, _, ok := rr.Read(0, buf); ok {
		t.Error("there is no ring")
	}
	rg := ring.Local(ring.MinSize)
	rr.Open(rg)
	n, err := rr.Fill(rg, func(room []byte) (int, error) { return copy(room, "hello"), nil })
	if n != 5 || err != nil {
		t.Fatal(n, err)
	}
	if n, head, ok := rr.Read(1, buf); !ok || string(buf[:n]) != "ello" || head != 5 {
		t.Errorf("%q, %d, %v", buf[:n], head, ok)
	}
	for len(rg.Room()) > 0 {
		rg.Publish(len(rg.Room()))
	}
	if _, err := rr.Fill(rg, nil); !errors.Is(err, ErrNoRoom) {
		t.Error(err)
	}
	rr.Close()
	if _, _, ok := rr.Read(0, buf); ok {
		t.Error("it is closed")
	}
}
