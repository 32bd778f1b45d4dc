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

// openJournal creates a journal in a new directory.
func openJournal(t *testing.T) (*journal.Journal, string) {
	t.Helper()
	dir := t.TempDir()
	j, _, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j, dir
}

// writeRing writes output to a ring, as a keeper does.
func writeRing(r *ring.Ring, text string) {
	for text != "" {
		n := copy(r.Room(), text)
		r.Publish(n)
		text = text[n:]
	}
}

// readJournal returns the output of a journal, and the bytes lost in gaps.
func readJournal(t *testing.T, j *journal.Journal) (text string, gap uint64) {
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

// TestAppend_EachByteOnce checks that the journal stores each byte once and at its own offset, whatever its owner reports.
//
// FAULT: A1
func TestAppend_EachByteOnce(t *testing.T) {
	j, _ := openJournal(t)
	var r Recorder
	r.Start(j, nil)
	for _, c := range []struct {
		off  uint64
		data string
	}{{0, "abc"}, {1, "bcde"}, {0, "abc"}, {7, "hi"}} {
		if err := r.Append(c.off, []byte(c.data)); err != nil {
			t.Fatal(err)
		}
	}
	if text, gap := readJournal(t, j); text != "abcdehi" || gap != 2 || j.End() != 9 {
		t.Errorf("%q, a gap of %d, up to %d", text, gap, j.End())
	}
}

// TestRetry checks that unjournaled output is read from the ring later, and that dropped output becomes a gap.
//
// FAULT: C1
func TestRetry(t *testing.T) {
	j, _ := openJournal(t)
	rg := ring.Local(ring.MinSize)
	var r Recorder
	r.Start(j, rg)
	r.MarkFailing()
	if r.RecordOutput(0, nil) != nil || r.AppendMark([]byte{1}) != nil || !r.IsFailing() {
		t.Error("appended while the journal fails")
	}
	writeRing(rg, "lost and found")
	r.DropIfRingFills(14)
	if r.HandledOffset() != 0 {
		t.Errorf("dropped output up to %d, want none: the ring has space", r.HandledOffset())
	}
	if err := r.SkipTo(5); err != nil || r.HandledOffset() != 5 {
		t.Error(err)
	}
	gap, ok := r.Retry(14)
	text, lost := readJournal(t, j)
	if !ok || gap != 9 || text != "and found" || lost != 5 || r.IsFailing() || r.HandledOffset() != 14 {
		t.Errorf("%d, %v: %q with a gap of %d, done to %d", gap, ok, text, lost, r.HandledOffset())
	}
}

// TestDropIfRingFills checks that output which cannot be journaled is dropped once it fills most of the ring.
//
// FAULT: C1
func TestDropIfRingFills(t *testing.T) {
	j, _ := openJournal(t)
	rg := ring.Local(ring.MinSize)
	var r Recorder
	r.Start(j, rg)
	r.MarkFailing()
	most := uint64(rg.Cap()) / 4 * 3
	if r.DropIfRingFills(most); r.HandledOffset() != 0 {
		t.Error("too early")
	}
	if r.DropIfRingFills(most + 1); r.HandledOffset() != most+1 {
		t.Error("output not dropped, the program would block")
	}
}

// TestStreams reads the streams from memory, and from the journal's marks.
//
// FEATURES: R4
func TestStreams(t *testing.T) {
	j, _ := openJournal(t)
	rg := ring.Local(ring.MinSize)
	rg.Separate()
	var r Recorder
	r.Start(j, rg)
	r.SetEnd(0)
	for i, text := range []string{"out", "err", "out again"} {
		n := copy(rg.RoomFor(ring.Stream(i%2)), text)
		rg.PublishAs(ring.Stream(i%2), n)
		off := r.HandledOffset()
		if err := r.RecordOutput(off, rg.BytesAt(off, n)); err != nil {
			t.Fatal(err)
		}
	}
	want := []StreamRun{{Stdout, 1}, {Stderr, 3}, {Stdout, 9}}
	got, err := r.Runs(j, 2, 15)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if err := r.EndStreamRange(); err != nil {
		t.Fatal(err)
	}
	var other Streams // without cached runs
	if got, err = other.Runs(j, 2, 15); err != nil || !slices.Equal(got, want) {
		t.Errorf("of the journal: %v, %v", got, err)
	}
	if end, apart := r.KnownEnd(); end != 15 || !apart || !r.HasStreams() {
		t.Errorf("known up to %d, %v", end, apart)
	}
}

// TestCheckpoints checks that the bytes of checkpoints stay in proportion to the output.
//
// FAULT: A20
func TestCheckpoints(t *testing.T) {
	var c CheckpointSchedule
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
		c.NoteWritten(0, x.size)
		if r, f := c.IsWorthwhile(x.off, false), c.IsWorthwhile(x.off, true); r != x.rest || f != x.floods {
			t.Errorf("%d bytes after one of %d: %v, %v", x.off, x.size, r, f)
		}
	}
	c.NoteWritten(0, 0)
	if c.C() != nil {
		t.Error("checkpoint due without output")
	}
	if c.NoteOutput(1); c.C() == nil {
		t.Error("no checkpoint due")
	}
	if c.Stop(); c.C() != nil {
		t.Error("checkpoint due after Stop")
	}
}

// TestReplayer restores an emulator from a checkpoint or a saved screen, the journal, and output that is not journaled.
//
// FEATURES: R91
func TestReplayer(t *testing.T) {
	j, dir := openJournal(t)
	var r Recorder
	r.Start(j, nil)
	if err := j.AppendResize(20, 3); err != nil {
		t.Fatal(err)
	}
	if err := r.Append(0, []byte("one\r\ntwo\r\n")); err != nil {
		t.Fatal(err)
	}
	p := &Replayer{Journal: j, Dir: dir, Engine: "e", Screens: NewScreenSeries(dir), OnUnusedCheckpoint: func(string, error) {}}
	newer := []byte("three")
	at := func(off uint64) string {
		t.Helper()
		e := vterm.New(vterm.Options{Cols: 20, Rows: 3})
		err := p.RestoreAt(t.Context(), e, off, func(from uint64, buf []byte) ([]byte, uint64, error) {
			if from >= 15 { // "lost " is missing, and the next output ends elsewhere
				return []byte("after"), from + 5 + 5, nil
			}
			n := copy(buf, newer[from-10:])
			return buf[:n], from + uint64(n), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return screenText(e)
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
	if err := p.RestoreAt(ctx, vterm.New(vterm.Options{Cols: 20, Rows: 3}), 10, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	sc := NewScreenSeries(dir)
	if sc.IsDue(CheckpointBytes-1) || !sc.IsDue(CheckpointBytes) {
		t.Error("no screen due after CheckpointBytes")
	}
	sc.NoteTaken(kept.Offset)
	if err := sc.Add(kept); err != nil || sc.IsDue(CheckpointBytes) {
		t.Error(err)
	}
}

// TestReplayer_SkipsUnreadableCheckpoints checks that an unreadable screen or checkpoint, for example of a newer
// version, only makes the replay longer.
//
// FEATURES: R91
func TestReplayer_SkipsUnreadableCheckpoints(t *testing.T) {
	j, dir := openJournal(t)
	var r Recorder
	r.Start(j, nil)
	if err := j.AppendResize(20, 3); err != nil {
		t.Fatal(err)
	}
	text := append([]byte("one\r\ntwo\r\n"), bytes.Repeat([]byte{'\r'}, CheckpointBytes)...)
	if err := r.Append(0, text); err != nil {
		t.Fatal(err)
	}
	unused := 0
	p := &Replayer{Journal: j, Dir: dir, Engine: "e", Screens: NewScreenSeries(dir), OnUnusedCheckpoint: func(string, error) { unused++ }}
	e := vterm.New(vterm.Options{Cols: 20, Rows: 3})
	_, _ = e.Write(text[:5])
	older := checkpoint.Checkpoint{Engine: "e", Offset: 5, Time: time.Unix(1, 0), Snapshot: e.AppendSnapshot(nil)}
	newer := checkpoint.Checkpoint{Engine: "e", Offset: CheckpointBytes + 8, Time: time.Unix(2, 0), Snapshot: []byte("of a newer version")}
	if err := p.Screens.Add(newer); err != nil {
		t.Fatal(err)
	}
	for _, c := range []checkpoint.Checkpoint{older, newer} {
		if err := checkpoint.Write(dir, c); err != nil {
			t.Fatal(err)
		}
		e := vterm.New(vterm.Options{Cols: 20, Rows: 3})
		if err := p.RestoreAt(t.Context(), e, uint64(len(text)), nil); err != nil {
			t.Fatal(err)
		}
		if got := screenText(e); got != "one\ntwo\n\n" {
			t.Errorf("with a checkpoint at %d: %q", c.Offset, got)
		}
	}
	if unused == 0 {
		t.Error("OnUnusedCheckpoint not called")
	}
}

// resizeRecorder is an emulator that records its sizes.
type resizeRecorder struct {
	*vterm.Terminal
	sizes []int
}

func (e *resizeRecorder) Resize(cols, rows int) {
	e.sizes = append(e.sizes, cols)
	e.Terminal.Resize(cols, rows)
}

// TestReplay_SizesBeforeCheckpoint_NotRepeated checks that sizes before a checkpoint are not set again, because each
// smaller size loses content. Sizes after it at the same offset, without output in between, are set.
//
// FEATURES: R91
func TestReplay_SizesBeforeCheckpoint_NotRepeated(t *testing.T) {
	j, dir := openJournal(t)
	var r Recorder
	r.Start(j, nil)
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
		{2, []int{20, 20}}, // from the beginning: sizes of the journal, with its first record
	} {
		again := &resizeRecorder{Terminal: vterm.New(vterm.Options{})}
		p := &Replayer{Journal: j, Dir: dir, Engine: "e", Screens: NewScreenSeries(dir), OnUnusedCheckpoint: func(string, error) {}}
		if err := p.RestoreAt(t.Context(), again, replay.until, nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.sizes, replay.want) {
			t.Errorf("up to %d: sizes %v, want %v", replay.until, again.sizes, replay.want)
		}
	}
}

// screenText returns the text on an emulator's screen.
func screenText(e vterm.Engine) string {
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
		t.Error("read without a ring")
	}
	rg := ring.Local(ring.MinSize)
	rr.SetRing(rg)
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
	if _, err := rr.Fill(rg, nil); !errors.Is(err, ErrRingFull) {
		t.Error(err)
	}
	rr.Close()
	if _, _, ok := rr.Read(0, buf); ok {
		t.Error("read after Close")
	}
}
