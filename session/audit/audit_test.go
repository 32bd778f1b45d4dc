package audit

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/identity"
)

// noSyncFS does not sync: tests do not lose power.
type noSyncFS struct{ osFS }

func (n noSyncFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := n.osFS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return noSyncFile{f}, nil
}

type noSyncFile struct{ File }

func (noSyncFile) Sync() error { return nil }

// openLog opens a log.
func openLog(t *testing.T, o Options) *Log {
	t.Helper()
	if o.FS == nil {
		o.FS = noSyncFS{}
	}
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "audit")
	}
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// appendAll appends records and returns the number of the last one.
func appendAll(t *testing.T, l *Log, records ...Record) (seq uint64) {
	t.Helper()
	for _, r := range records {
		var err error
		if seq, err = l.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	return seq
}

// verifyLog verifies a log.
func verifyLog(t *testing.T, dir string, anchors ...Head) Report {
	t.Helper()
	r, err := Verify(dir, Baseline{Anchors: anchors})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkSound checks that a log is intact and has a number of records.
func checkSound(t *testing.T, dir string, records uint64) {
	t.Helper()
	if r := verifyLog(t, dir); !r.OK || r.Records != records {
		t.Errorf("%+v, want %d records in order", r, records)
	}
}

// someRecords returns records of several kinds.
func someRecords() []Record {
	code := 3
	return []Record{
		{Kind: Begin, Note: "a daemon"},
		{Kind: Line, Actor: identity.Actor{UID: 1000, Agent: "claude"}, Session: "4f", Name: "build", Line: "make <all> & \u2028 \xff", Verdict: "allow", Rule: "hard"},
		{Kind: Command, Argv: []string{"git", "push"}, Cwd: "/src", Verdict: "deny", Rule: "deny git push"},
		{Kind: Execution, Path: "/usr/bin/touch", Argv: []string{"touch", "x"}, Parent: []string{"sh", "-c", "touch x"}, Depth: 2, Verdict: "ask", Approval: "A7"},
		{Kind: End, Session: "4f", Job: "9a", Output: &Range{10, 200}, Exit: &code},
	}
}

// TestRead_ReturnsWritten checks that records are read as they were written, and selected by every field of Query.
//
// FEATURES: R109
func TestRead_ReturnsWritten(t *testing.T) {
	l := openLog(t, Options{SegmentBytes: 600})
	if seq := appendAll(t, l, someRecords()...); seq != 5 {
		t.Errorf("the fifth record has the number %d", seq)
	}
	all, err := Read(l.Dir(), Query{})
	if err != nil || len(all) != 5 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	if r := all[1]; r.Line != "make <all> & \u2028 \\xff" || r.Actor.Agent != "claude" || r.Time.IsZero() || r.Seq != 2 || r.Prev != all[0].Hash {
		t.Errorf("%+v", r)
	}
	if r := all[4]; *r.Exit != 3 || *r.Output != (Range{10, 200}) || l.Head() != (Head{5, r.Hash}) {
		t.Errorf("%+v, head %v", r, l.Head())
	}
	for want, q := range map[string]Query{
		"2": {Session: "build", Agent: "claude"}, "2,5": {Session: "4"}, "3": {Verdict: "deny"},
		"4,5": {After: 3}, "5": {Limit: 1}, "": {Since: time.Now().Add(time.Hour)},
	} {
		got, err := Read(l.Dir(), q)
		var seqs []string
		for _, r := range got {
			seqs = append(seqs, strconv.FormatUint(r.Seq, 10))
		}
		if strings.Join(seqs, ",") != want || err != nil {
			t.Errorf("%+v: %q, want %q, %v", q, seqs, want, err)
		}
	}
	checkSound(t, l.Dir(), 5)
	if segs, _ := segments(osFS{}, l.Dir()); len(segs) < 2 {
		t.Errorf("%d segments", len(segs))
	}
	for _, path := range []string{headPath(l.Dir()), segmentPath(l.Dir(), 1)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(Record{}); !errors.Is(err, ErrNotWritten) {
		t.Errorf("closed log: got %v", err)
	}
	l = openLog(t, Options{Dir: l.Dir()})
	if seq := appendAll(t, l, Record{Kind: Line}); seq != 6 {
		t.Errorf("got first record %d of the next log", seq)
	}
	checkSound(t, l.Dir(), 6)
}

// memoryLog is a log in memory: its files by name.
type memoryLog map[string][]byte

func loadLog(t *testing.T, parent string) memoryLog {
	t.Helper()
	w := memoryLog{}
	err := filepath.WalkDir(parent, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(parent, path)
		w[rel] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w memoryLog) store(t *testing.T) (dir string) {
	t.Helper()
	parent := t.TempDir()
	for name, b := range w {
		path := filepath.Join(parent, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(parent, "audit")
}

func (w memoryLog) withFile(name string, b []byte) memoryLog {
	c := memoryLog{}
	for k, v := range w {
		c[k] = v
	}
	c[name] = b
	if b == nil {
		delete(c, name)
	}
	return c
}

// writtenLog returns a log of some segments.
func writtenLog(t *testing.T) memoryLog {
	t.Helper()
	l := openLog(t, Options{SegmentBytes: 900})
	for range 2 {
		appendAll(t, l, someRecords()...)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	w := loadLog(t, filepath.Dir(l.Dir()))
	if len(w) < 4 {
		t.Fatalf("%d files", len(w))
	}
	return w
}

// TestVerify_FindsFlippedBytes checks that every flipped byte, in any file of a log, is found.
//
// FEATURES: R109
func TestVerify_FindsFlippedBytes(t *testing.T) {
	w := writtenLog(t)
	dir := w.store(t)
	checkSound(t, dir, 10)
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, b := range w {
		path := filepath.Join(filepath.Dir(dir), name)
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b {
			for _, bit := range []byte{1 << rnd.IntN(8), 0x20} { // 0x20 changes the case of letters
				if _, err := f.WriteAt([]byte{b[i] ^ bit}, int64(i)); err != nil {
					t.Fatal(err)
				}
				if r := verifyLog(t, dir); r.OK {
					t.Errorf("%s: got no finding of byte %d, %q → %q", name, i, b[i], b[i]^bit)
				}
			}
			if _, err := f.WriteAt(b[i:i+1], int64(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	checkSound(t, dir, 10)
}

// linePosition identifies a line of a file.
type linePosition struct {
	file string
	line int
}

// TestVerify_FindsRemovedAndMovedRecords checks that removed, doubled and moved records and segments are found, also at
// the end.
//
// FEATURES: R109
func TestVerify_FindsRemovedAndMovedRecords(t *testing.T) {
	w := writtenLog(t)
	var places []linePosition
	for name, b := range w {
		for i := range bytes.Count(b, []byte("\n")) {
			places = append(places, linePosition{name, i})
		}
	}
	damaged := func(what string, w memoryLog) {
		t.Helper()
		dir := w.store(t)
		if r := verifyLog(t, dir); r.OK {
			t.Errorf("%s: got no finding", what)
		}
		// A daemon that continues the log does not hide the change.
		l := openLog(t, Options{Dir: dir})
		appendAll(t, l, Record{Kind: Line, Line: "after"})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if r := verifyLog(t, dir); r.OK {
			t.Errorf("%s: got no finding after another record", what)
		}
	}
	for _, p := range places {
		lines := bytes.SplitAfter(w[p.file], []byte("\n"))
		lines = lines[:len(lines)-1]
		join := func(parts ...[][]byte) []byte {
			b := []byte{}
			for _, p := range parts {
				b = append(b, bytes.Join(p, nil)...)
			}
			return b
		}
		name := p.file + " line " + strconv.Itoa(p.line)
		damaged("without "+name, w.withFile(p.file, join(lines[:p.line], lines[p.line+1:])))
		damaged("up to "+name, w.withFile(p.file, join(lines[:p.line])))
		damaged("twice "+name, w.withFile(p.file, join(lines[:p.line+1], lines[p.line:])))
		if p.line > 0 {
			damaged("exchanged "+name, w.withFile(p.file, join(lines[:p.line-1], lines[p.line:p.line+1], lines[p.line-1:p.line], lines[p.line+1:])))
		}
		if p.file != "audit.head" {
			damaged("half of "+name, w.withFile(p.file, join(lines[:p.line], [][]byte{lines[p.line][:len(lines[p.line])/2]})))
		}
	}
	for name := range w {
		damaged("no "+name, w.withFile(name, nil))
	}
	damaged("nothing but a head", memoryLog{"audit.head": w["audit.head"]})
}

// TestVerify_AnchorFindsRewrittenLog checks that a consistently rewritten log is found only by a head that was kept
// elsewhere.
//
// FEATURES: R109
func TestVerify_AnchorFindsRewrittenLog(t *testing.T) {
	l := openLog(t, Options{})
	appendAll(t, l, someRecords()...)
	old := l.Head()
	other := openLog(t, Options{})
	appendAll(t, other, someRecords()...)
	appendAll(t, other, Record{Kind: Line})
	if r := verifyLog(t, l.Dir(), old); !r.OK {
		t.Errorf("%+v", r)
	}
	r := verifyLog(t, other.Dir(), old)
	if r.OK || len(r.Findings) != 1 || !strings.Contains(r.Findings[0].What, "record 5 is not the one that was written") {
		t.Errorf("%+v", r)
	}
	if r := verifyLog(t, l.Dir(), Head{7, old.Hash}); r.OK {
		t.Errorf("%+v", r)
	}
	for _, bad := range []string{"", "5", "5:", ":" + old.Hash, "x:" + old.Hash, "5:" + strings.ToUpper(old.Hash), "5:" + old.Hash[1:]} {
		if h, err := ParseHead(bad); err == nil {
			t.Errorf("%q: %v", bad, h)
		}
	}
	if h, err := ParseHead(old.String()); err != nil || h != old {
		t.Errorf("%v, %v", h, err)
	}
}

// TestOpen_AfterKill checks that a partial record after a kill is reported and quarantined, and the chain continues. No
// acknowledged record is lost.
//
// FEATURES: R109
func TestOpen_AfterKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	told := uint64(0)
	rnd := rand.New(rand.NewPCG(3, 4))
	for round := range 12 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), appendForever+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(out)
		for range 1 + rnd.IntN(100) {
			if !in.Scan() {
				break
			}
			seq, err := strconv.ParseUint(in.Text(), 10, 64)
			if err != nil || seq <= told {
				t.Errorf("round %d: %q after %d", round, in.Text(), told)
			}
			told = seq
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if round%3 == 2 { // a kill within the write itself is rare, so its result is simulated
			segs, err := segments(osFS{}, dir)
			if err != nil || len(segs) == 0 {
				t.Fatal(segs, err)
			}
			f, err := os.OpenFile(segs[len(segs)-1].path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString(`{"seq":99,"time":"2026`); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if r := verifyLog(t, dir); !r.OK || len(r.Notes) == 0 || !strings.Contains(r.Notes[len(r.Notes)-1].What, "half a record") {
				t.Errorf("round %d: got no finding of the partial record: %+v", round, r)
			}
		}
	}
	l := openLog(t, Options{Dir: dir})
	appendAll(t, l, Record{Kind: Line})
	r := verifyLog(t, dir)
	if !r.OK || r.Head.Seq <= told || len(r.Notes) < 4 {
		t.Errorf("%+v, reported %d", r, told)
	}
	aside, _ := filepath.Glob(filepath.Join(dir, "torn-*"))
	if len(aside) == 0 {
		t.Error("got no partial record")
	}
}

// fullDiskFS fails half way through a write while full is set.
type fullDiskFS struct {
	osFS
	full *atomic.Bool
}

func (d fullDiskFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return fullFile{f, d.full}, nil
}

type fullFile struct {
	*os.File
	full *atomic.Bool
}

func (f fullFile) WriteAt(p []byte, off int64) (int, error) {
	if f.full.Load() {
		n, _ := f.File.WriteAt(p[:len(p)/2], off)
		return n, syscall.ENOSPC
	}
	return f.File.WriteAt(p, off)
}

func (f fullFile) Truncate(n int64) error {
	if f.full.Load() && n%2 == 1 { // sometimes truncation fails too
		return syscall.EIO
	}
	return f.File.Truncate(n)
}

// TestAppend_OnFullDisk checks that on a full disk the policy decides whether actions continue. Unwritten records are
// counted once there is space.
//
// FEATURES: R109
func TestAppend_OnFullDisk(t *testing.T) {
	var full, goOn atomic.Bool
	l := openLog(t, Options{FS: fullDiskFS{full: &full}, ContinuesUnwritten: goOn.Load})
	appendAll(t, l, someRecords()...)
	full.Store(true)
	if _, err := l.Append(Record{Kind: Line}); !errors.Is(err, ErrNotWritten) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got no error: %v", err)
	}
	goOn.Store(true)
	if seq, err := l.Append(Record{Kind: Line}); seq != 0 || err != nil {
		t.Errorf("got %d, %v, want no error", seq, err)
	}
	goOn.Store(false)
	full.Store(false)
	if seq := appendAll(t, l, Record{Kind: Line, Line: "after"}); seq < 7 {
		t.Errorf("number %d", seq)
	}
	all, err := Read(l.Dir(), Query{Kind: Gap})
	if err != nil || len(all) != 1 || all[0].Lost != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	if r := verifyLog(t, l.Dir()); !r.OK || len(r.Notes) == 0 {
		t.Errorf("%+v", r)
	}
}

// TestOpen_OnFullDisk checks that a full disk at the start of the daemon does not prevent its start.
func TestOpen_OnFullDisk(t *testing.T) {
	var full atomic.Bool
	w := writtenLog(t)
	for name, b := range w {
		if strings.HasPrefix(filepath.Base(name), "0") {
			w[name] = append(bytes.Clone(b), "{half"...)
			break
		}
	}
	dir := filepath.Join(t.TempDir(), "new", "audit")
	full.Store(true)
	l := openLog(t, Options{Dir: dir, FS: fullDiskFS{full: &full}})
	if _, err := l.Append(Record{Kind: Line}); err == nil {
		t.Error("got no error on a full disk")
	}
	full.Store(false)
	if seq := appendAll(t, l, Record{Kind: Line}); seq != 2 { // after the gap
		t.Errorf("number %d", seq)
	}
	checkSound(t, dir, 2)
}

// TestAppendSoon checks that AppendSoon keeps the order of records. After a failed write it waits and returns the
// error.
//
// FEATURES: R109
func TestAppendSoon(t *testing.T) {
	var full atomic.Bool
	l := openLog(t, Options{FS: fullDiskFS{full: &full}})
	for range 3 {
		if err := l.AppendSoon(Record{Kind: Execution}); err != nil {
			t.Fatal(err)
		}
	}
	if seq := appendAll(t, l, Record{Kind: Line}); seq != 4 {
		t.Errorf("the fourth record has the number %d", seq)
	}
	full.Store(true)
	if _, err := l.Append(Record{Kind: Line}); err == nil {
		t.Error("got no error on a full disk")
	}
	if err := l.AppendSoon(Record{Kind: Execution}); !errors.Is(err, ErrNotWritten) {
		t.Errorf("after a failed write: got %v", err)
	}
	full.Store(false)
	if err := l.AppendSoon(Record{Kind: Execution}); err != nil {
		t.Error(err)
	}
	seq := appendAll(t, l, Record{Kind: Line})
	if seq != 7 && seq != 8 { // after a gap and, if truncation failed too, the repair
		t.Errorf("number %d", seq)
	}
	checkSound(t, l.Dir(), seq)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.AppendSoon(Record{}); !errors.Is(err, ErrNotWritten) {
		t.Errorf("closed log: got %v", err)
	}
}

// stuckDiskFS blocks writes until it is released.
type stuckDiskFS struct {
	osFS
	stuck, free chan struct{}
}

func (d stuckDiskFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return stuckFile{f, d}, nil
}

type stuckFile struct {
	*os.File
	d stuckDiskFS
}

func (f stuckFile) WriteAt(p []byte, off int64) (int, error) {
	if bytes.Contains(p, []byte("stick")) {
		close(f.d.stuck)
		<-f.d.free
	}
	return f.File.WriteAt(p, off)
}

// TestAppendLater_NeverWaits checks that AppendLater never waits for the disk; records beyond the limit are counted.
func TestAppendLater_NeverWaits(t *testing.T) {
	d := stuckDiskFS{stuck: make(chan struct{}), free: make(chan struct{})}
	l := openLog(t, Options{FS: d})
	l.AppendLater(Record{Kind: Line, Line: "stick"})
	<-d.stuck
	for range maxWaiting + 5 {
		l.AppendLater(Record{Kind: End})
	}
	close(d.free)
	appendAll(t, l, Record{Kind: Line, Line: "last"})
	all, err := Read(l.Dir(), Query{Kind: Gap})
	if err != nil || len(all) != 1 || all[0].Lost != 5 {
		t.Errorf("%+v, %v", all, err)
	}
	checkSound(t, l.Dir(), maxWaiting+3)
}

// TestAppend_Concurrent checks that concurrent writers get distinct numbers, and followers see each record.
func TestAppend_Concurrent(t *testing.T) {
	l := openLog(t, Options{SegmentBytes: 2000})
	var wg sync.WaitGroup
	var seen sync.Map
	for range 8 {
		wg.Go(func() {
			for range 50 {
				seq, err := l.Append(Record{Kind: Line, Line: "x"})
				if _, twice := seen.LoadOrStore(seq, true); twice || err != nil {
					t.Errorf("%d, twice %v, %v", seq, twice, err)
				}
			}
		})
	}
	for after := uint64(0); after < 400; {
		if err := l.Await(t.Context(), after); err != nil {
			t.Fatal(err)
		}
		got, err := Read(l.Dir(), Query{After: after})
		if err != nil || len(got) == 0 {
			t.Fatal(len(got), err)
		}
		for _, r := range got {
			if after++; r.Seq != after {
				t.Fatalf("record %d after %d", r.Seq, after-1)
			}
		}
	}
	wg.Wait()
	checkSound(t, l.Dir(), 400)
}

// TestRecord_Bounded checks that records are bounded in size, and different records stay distinguishable.
func TestRecord_Bounded(t *testing.T) {
	l := openLog(t, Options{Mask: func(s string) string { return strings.ReplaceAll(s, "hunter22", "********") }})
	long := strings.Repeat("\x01é", 5<<20)
	appendAll(t, l,
		Record{Kind: Line, Line: long, Argv: []string{long, long}, Parent: strings.Split(strings.Repeat("x ", 1e6), " "), Cwd: long, Path: long, Note: long, Name: long, Rule: long},
		Record{Kind: Line, Line: long + "!", Argv: []string{"login", "hunter22", "\xff\xfe"}, Note: "hunter22"})
	checkSound(t, l.Dir(), 2)
	all, err := Read(l.Dir(), Query{})
	if err != nil || len(all) != 2 || all[0].Line == all[1].Line || !strings.Contains(all[0].Line, "SHA-256") {
		t.Fatalf("%d, %v", len(all), err)
	}
	if r := all[1]; strings.Join(r.Argv, " ") != `login ******** \xff\xfe` || r.Note != "********" {
		t.Errorf("%q %q", r.Argv, r.Note)
	}
}

func FuzzVerify(f *testing.F) {
	r := someRecords()[1]
	r.Seq, r.Prev = 1, zeroHash
	line, err := r.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line, headLine(Head{1, r.Hash}))
	f.Add([]byte("{\"seq\":1}\n"), []byte(nil))
	f.Add(append(line[:len(line):len(line)], line[:40]...), []byte("1:x"))
	cut := Record{Seq: 2, Kind: Drop, Prev: r.Hash, Dropped: &Dropped{From: 1, To: 1, Hash: r.Hash, SHA256: zeroHash}}
	sealed, err := cut.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed, headLine(Head{2, cut.Hash}))
	f.Add(append(line[:len(line):len(line)], sealed...), headLine(Head{2, cut.Hash}))
	f.Fuzz(func(t *testing.T, log, head []byte) {
		dir := memoryLog{filepath.Join("audit", segmentName(1)): log, "audit.head": head}.store(t)
		before, err := Verify(dir, Baseline{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir, Query{}); err != nil {
			t.Fatal(err)
		}
		l, err := Open(Options{Dir: dir, FS: noSyncFS{}})
		if err != nil {
			t.Fatal(err)
		}
		seq, err := l.Append(Record{Kind: Line, Line: "x"})
		if err != nil || seq == 0 {
			t.Fatal(seq, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		after, err := Verify(dir, Baseline{})
		if err != nil {
			t.Fatal(err)
		}
		if before.OK != after.OK {
			t.Fatalf("before %+v\nafter %+v", before, after)
		}
		if l, err = Open(Options{Dir: dir, FS: noSyncFS{}}); err != nil {
			t.Fatal(err)
		}
		if next, err := l.Append(Record{Kind: Line}); err != nil || next != seq+1 {
			t.Fatal(next, err, "a log that was repaired is repaired again")
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// BenchmarkRecord measures an Append, and an AppendSoon.
func BenchmarkRecord(b *testing.B) {
	r := Record{Kind: Execution, Path: "/usr/bin/touch", Argv: []string{"touch", "x"}, Parent: []string{"sh", "-c", "touch x"}, Depth: 2, Verdict: "allow"}
	l, err := Open(Options{Dir: filepath.Join(b.TempDir(), "audit")})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			if _, err := l.Append(r); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("soon", func(b *testing.B) {
		for b.Loop() {
			if err := l.AppendSoon(r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestAppend_AfterForeignChange checks that a segment that another program replaces, truncates or removes is detected
// by the next record, which is kept in a segment that is read, after a record of the damage.
//
// FEATURES: R109
func TestAppend_AfterForeignChange(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced there")
	}
	rewrite := func(t *testing.T, path string, change func([]byte) []byte) {
		b, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path+".new", change(b), 0o600)
		}
		if err == nil {
			err = os.Rename(path+".new", path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	same := func(b []byte) []byte { return b }
	for name, c := range map[string]struct {
		change func(t *testing.T, path string)
		says   []string // the expected findings, in order
	}{
		"replaced": {func(t *testing.T, path string) { rewrite(t, path, same) }, []string{"was replaced while"}},
		"other words": {func(t *testing.T, path string) {
			rewrite(t, path, func(b []byte) []byte { return bytes.Replace(b, []byte("two"), []byte("TWO"), 1) })
		}, []string{"record 2: it does not match", "was replaced while"}},
		"shorter": {func(t *testing.T, path string) {
			rewrite(t, path, func(b []byte) []byte { return b[:bytes.IndexByte(b, '\n')+1] })
		}, []string{"records 2 to 3", "was replaced while"}},
		"cut":      {func(t *testing.T, path string) { _ = os.Truncate(path, 5) }, []string{" bytes instead of "}},
		"removed":  {func(t *testing.T, path string) { _ = os.Remove(path) }, []string{"was removed while"}},
		"the head": {func(t *testing.T, path string) { rewrite(t, filepath.Dir(path)+".head", same) }, []string{"audit.head was replaced while"}},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			l := openLog(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			for _, line := range []string{"one", "two", "three"} {
				appendAll(t, l, Record{Kind: Line, Line: line})
			}
			c.change(t, segmentPath(l.Dir(), 1))
			for _, line := range []string{"after", "and more"} {
				appendAll(t, l, Record{Kind: Line, Line: line})
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(log.String(), "another program changed"); n != 1 {
				t.Errorf("got %d log messages:\n%s", n, &log)
			}
			var lines []string
			all, err := Read(l.Dir(), Query{})
			for _, r := range all {
				lines = append(lines, r.Line)
			}
			if text := strings.Join(lines, "|"); err != nil || !strings.HasSuffix(text, "|after|and more") {
				t.Errorf("%s %v", text, err)
			}
			r := verifyLog(t, l.Dir())
			found := ""
			for _, f := range r.Findings {
				found += f.What + "\n"
			}
			rest := found
			for _, want := range c.says {
				_, after, ok := strings.Cut(rest, want)
				if rest = after; !ok {
					t.Fatalf("%s\nhas no %s", found, want)
				}
			}
		})
	}
}

// TestMissingLog_Detected checks that a log that was removed with its head is reported if it is expected, and by its
// successor. Without that knowledge there is no damage.
//
// FEATURES: R109
func TestMissingLog_Detected(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	for want, against := range map[string]Baseline{"": {}, "log was removed": {Expected: true}, "record 7 was written": {Written: Head{7, zeroHash}}} {
		r, err := Verify(dir, against)
		if err != nil || r.OK != (want == "") || want != "" && !slices.ContainsFunc(r.Findings, func(f Finding) bool { return strings.Contains(f.What, want) }) {
			t.Errorf("%+v: %+v, %v", against, r, err)
		}
	}
	l := openLog(t, Options{Dir: dir, IsExpected: true})
	appendAll(t, l, Record{Kind: Begin})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = openLog(t, Options{Dir: dir, IsExpected: true}) // the log exists now
	appendAll(t, l, Record{Kind: Begin})
	r := verifyLog(t, dir)
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].What, "the previous log and its head are missing") || r.Records != 3 {
		t.Errorf("%+v", r)
	}
	if r, err := Verify(dir, Baseline{Written: l.Head()}); err != nil || len(r.Findings) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
