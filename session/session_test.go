package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/checkpoint"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// fakeDevice is a device and the child behind it: output goes into the ring, input is recorded.
type fakeDevice struct {
	ring     *ring.Ring
	mu       sync.Mutex
	typed    bytes.Buffer
	accept   int // bytes that TryWrite accepts; -1: all
	writes   int // number of accepted writes
	released chan struct{}
	sizes    [][2]int
}

func (f *fakeDevice) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.typed.Write(p)
}

func (f *fakeDevice) TryWrite(p []byte) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.accept >= 0 {
		p = p[:min(len(p), f.accept)]
	}
	n, _ := f.typed.Write(p)
	f.writes++
	return n
}
func (f *fakeDevice) SetWriteDeadline(time.Time) error { return nil }
func (f *fakeDevice) Resize(cols, rows int) error {
	f.sizes = append(f.sizes, [2]int{cols, rows})
	return nil
}
func (f *fakeDevice) Control(func(int) error) error { return errors.New("no terminal") }
func (f *fakeDevice) Resume()                       {}
func (f *fakeDevice) Release()                      { close(f.released) }

// typedText returns the typed input.
func (f *fakeDevice) typedText() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.typed.String()
}

// print writes output as a keeper would. The ring is large enough for these tests.
func (f *fakeDevice) print(s *Session, text string) {
	for p := []byte(text); len(p) > 0; {
		n := copy(f.ring.Room(), p)
		f.ring.Publish(n)
		p = p[n:]
	}
	s.NotifyOutput()
}

// fixture is a session with its fake device and journal.
type fixture struct {
	*Session
	*fakeDevice
	dir     string
	journal *journal.Journal
}

// newFixture returns a started session in a new directory.
func newFixture(t *testing.T, o journal.Options) *fixture {
	t.Helper()
	return reopenSession(t, t.TempDir(), ring.Local(ring.DefaultSize), o)
}

// reopenSession starts a session over a directory and a ring that may exist, as a daemon's start does.
func reopenSession(t *testing.T, dir string, r *ring.Ring, o journal.Options, with ...func(*Config)) *fixture {
	t.Helper()
	j, _, err := journal.Open(dir+"/journal", o)
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeDevice{ring: r, accept: -1, released: make(chan struct{})}
	cfg := Config{
		ID: "test", Dir: dir, Device: f, Ring: r, Journal: j,
		Options: vterm.Options{Cols: 80, Rows: 24}, Status: Status{State: Running, Cols: 80, Rows: 24},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for _, change := range with {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	s.Start()
	return &fixture{s, f, dir, j}
}

// testContext returns a context that ends with the test, or after a time limit.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// waitText waits for a text in the output.
func waitText(t *testing.T, s *Session, text string) WaitResult {
	t.Helper()
	r, err := s.Wait(testContext(t), WaitSpec{Conds: []Cond{{Kind: CondText, Text: text}}})
	if err != nil {
		t.Fatalf("waiting for %q: %v", text, err)
	}
	return r
}

// screenText returns the text on the screen.
func screenText(t *testing.T, s *Session) string {
	t.Helper()
	var f vterm.Frame
	if err := s.Frame(testContext(t), &f, vterm.Query{}); err != nil {
		t.Fatal(err)
	}
	var b []byte
	for _, l := range f.Lines {
		for _, c := range l.Cells {
			b = f.AppendText(b, c)
		}
		b = append(bytes.TrimRight(b, " "), '\n')
	}
	return strings.TrimRight(string(b), "\n")
}

// FEATURES: R24, R37
func TestOutputByOffset(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "one\r\ntwo\r\nprompt> ")
	waitText(t, s.Session, "prompt>") // needs no newline
	buf := make([]byte, 100)
	c, err := s.Output(5, buf)
	if err != nil || string(c.Data) != "two\r\nprompt> " || c.From != 5 || c.Next != 18 || c.Gap != 0 {
		t.Errorf("%q %+v %v", c.Data, c, err)
	}
	if c, err = s.Output(18, buf); err != nil || len(c.Data) != 0 {
		t.Errorf("at the end: %+v, %v", c, err)
	}
	if _, err = s.Output(19, buf); !errors.Is(err, ErrFuture) {
		t.Errorf("past the end: %v", err)
	}
}

// TestNextOwner_ContinuesExactly checks that a new owner continues exactly where the last one stopped, whether
// journaling or acknowledging was missing.
//
// FEATURES: R90
func TestNextOwner_ContinuesExactly(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "\x1b[31mred\x1b[m first\r\n")
	waitText(t, s.Session, "first")
	s.Stop()
	// Output without an owner, and output that was journaled but not acknowledged.
	r := s.fakeDevice.ring
	s.print(s.Session, "second\r\n")
	j, _, err := journal.Open(s.dir+"/journal", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.AppendOutput([]byte("sec")); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	s2 := reopenSession(t, s.dir, r, journal.Options{})
	waitText(t, s2.Session, "second")
	if got := screenText(t, s2.Session); got != "red first\nsecond" {
		t.Errorf("screen %q", got)
	}
	buf := make([]byte, 100)
	n, _, gap, err := s2.journal.ReadAt(0, buf)
	if want := "\x1b[31mred\x1b[m first\r\nsecond\r\n"; string(buf[:n]) != want || gap != 0 || err != nil {
		t.Errorf("journal %q, gap %d, %v", buf[:n], gap, err)
	}
}

// TestReplay_AnswersNoQueries checks that replies to old queries are not typed again.
//
// FEATURES: R90
func TestReplay_AnswersNoQueries(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "\x1b[6nasked")
	waitText(t, s.Session, "asked")
	if got := s.typedText(); got != "\x1b[1;1R" {
		t.Errorf("typed %q", got)
	}
	s.Stop()
	// As after a kill: no checkpoint, the query is replayed.
	if err := os.Remove(filepath.Join(s.dir, checkpoint.Name)); err != nil {
		t.Fatal(err)
	}
	s2 := reopenSession(t, s.dir, s.fakeDevice.ring, journal.Options{})
	s2.print(s2.Session, " more")
	waitText(t, s2.Session, "more")
	if got := s2.typedText(); got != "" {
		t.Errorf("typed again: %q", got)
	}
}

// FEATURES: R49
func TestInput_StaysInOrder(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.accept = 1 // the terminal accepts little at once: the rest is queued
	var want strings.Builder
	for i := range 200 {
		text := strings.Repeat(string(rune('a'+i%26)), i%7+1)
		want.WriteString(text)
		if _, err := s.Type(testContext(t), TypeRequest{Bytes: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.typedText(); got != want.String() {
		t.Errorf("typed %q", got)
	}
}

func TestType_RejectsChangedScreen(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "a")
	v := waitText(t, s.Session, "a").Version
	if _, err := s.Type(testContext(t), TypeRequest{Bytes: []byte("x"), Version: v}); err != nil {
		t.Error(err)
	}
	s.print(s.Session, "b")
	waitText(t, s.Session, "ab")
	if _, err := s.Type(testContext(t), TypeRequest{Bytes: []byte("x"), Version: v}); !errors.Is(err, ErrStale) {
		t.Errorf("typed into a changed screen: %v", err)
	}
}

func TestExit_ReportedAfterLastByte(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.Exited(Exit{Code: 3}, 8) // before its output was handled
	for known := false; !known; {
		if err := s.WithScreen(testContext(t), func(View) { known = s.exit != nil || s.Status().State != Running }); err != nil {
			t.Fatal(err)
		}
	}
	if st := s.Status(); st.State != Running {
		t.Errorf("%s before its output was handled", st.State)
	}
	s.print(s.Session, "the end\n")
	r, err := s.Wait(testContext(t), WaitSpec{Conds: []Cond{{Kind: CondExit}}})
	if err != nil || r.Cursor != 8 || r.Status.State != Exited || r.Status.Exit.Code != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	s.Closed()
	<-s.fakeDevice.released
	if _, err := s.Type(testContext(t), TypeRequest{Bytes: []byte("x")}); !errors.Is(err, ErrEnded) {
		t.Errorf("typed into an ended session: %v", err)
	}
	if got := screenText(t, s.Session); got != "the end" {
		t.Errorf("screen %q", got)
	}
}

// TestFocusReport_IsNoInput checks that unrequested reports of a client, such as focus, are no input: output since the
// last input still counts.
//
// FEATURES: R40
func TestFocusReport_IsNoInput(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "before\r\n")
	waitText(t, s.Session, "before")
	r, err := s.TypeIn(testContext(t), TypeRequest{FromUser: true, Encode: func(dst []byte, v View) []byte { return input.AppendFocus(dst, true, &v.Modes) }})
	if err != nil || r.Cursor == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	waitText(t, s.Session, "before")
	s.Stop()
}

// FEATURES: R40, R44
func TestWaitConditions(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "old\r\n")
	cursor := waitText(t, s.Session, "old").Cursor
	if _, err := s.Type(testContext(t), TypeRequest{Bytes: []byte("go")}); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := s.Wait(short, WaitSpec{Conds: []Cond{{Kind: CondText, Text: "old"}}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("text before the input counted: %v", err)
	}
	s.print(s.Session, "value=42\r\n$ ")
	r, err := s.Wait(testContext(t), WaitSpec{
		Conds: []Cond{{Kind: CondRegexp, Regexp: regexp.MustCompile(`value=\d+`)}, {Kind: CondText, Text: "$ "}},
		All:   true, Since: &cursor,
	})
	if err != nil || len(r.Fired) != 2 || r.Fired[0].Match != "value=42" {
		t.Errorf("%+v, %v", r, err)
	}
	// It was printed before the call and still matches: waits are level-triggered.
	if r = waitText(t, s.Session, "value"); r.Cursor != 17 {
		t.Errorf("%+v", r)
	}
	if _, err := s.Wait(testContext(t), WaitSpec{Conds: []Cond{{Kind: CondQuiet, Quiet: 20 * time.Millisecond}}}); err != nil {
		t.Error(err)
	}
	// Drawn piece by piece: complete only on the screen.
	s.print(s.Session, "\x1b[10;4Hlo\x1b[10;1HHel")
	if r = waitText(t, s.Session, "Hello"); len(r.Fired) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestStop_EndsWaits(t *testing.T) {
	s := newFixture(t, journal.Options{})
	done := make(chan WaitResult, 1)
	go func() {
		r, _ := s.Wait(t.Context(), WaitSpec{Conds: []Cond{{Kind: CondExit}}})
		done <- r
	}()
	for {
		n := 0
		if err := s.WithScreen(testContext(t), func(View) { n = s.waits.set.Len() }); err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			break
		}
	}
	s.Stop()
	if r := <-done; len(r.Fired) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestResize(t *testing.T) {
	s := newFixture(t, journal.Options{})
	if err := s.Session.Resize(testContext(t), 100, 40); err != nil {
		t.Fatal(err)
	}
	if st := s.Status(); st.Cols != 100 || st.Rows != 40 || len(s.sizes) != 1 {
		t.Errorf("%+v %v", st, s.sizes)
	}
	for _, size := range [][2]int{{0, 0}, {-1, 5}, {10000, 24}} {
		if err := s.Session.Resize(testContext(t), size[0], size[1]); err == nil {
			t.Errorf("size %v accepted", size)
		}
	}
}

func TestWatchers_Notified(t *testing.T) {
	s := newFixture(t, journal.Options{})
	w := s.Watch()
	defer w.Close()
	<-w.Output
	<-w.Frames // both start with a signal
	s.print(s.Session, "x")
	<-w.Output
	<-w.Frames
	s.Stop()
	<-w.Done
}
