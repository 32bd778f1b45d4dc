//go:build unix

package sessionfiles

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

const id = "aaaa1111-0000-4000-8000-000000000001"

func newStore(t *testing.T) *Store {
	t.Helper()
	s := New(paths.Dirs{State: t.TempDir()})
	if err := os.MkdirAll(s.dirs.Session(id), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Store) put(t *testing.T, name, text string) api.StoredFile {
	t.Helper()
	f, err := s.Put(id, name, int64(len(text)), Limits{}, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (s *Store) names(t *testing.T) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(s.Dir(id))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func wantCode(t *testing.T, what string, err error, code api.Code, text string) {
	t.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Error(), text) || e.Hint == "" {
		t.Errorf("%s: %v, want %s with %q", what, err, code, text)
	}
}

// FEATURES: R136
func TestPut_NeverReplaces(t *testing.T) {
	s := newStore(t)
	for i, want := range []string{"shot.png", "shot-2.png", "shot-3.png"} {
		f := s.put(t, "shot.png", want)
		if f.Name != want || f.Path != filepath.Join(s.Dir(id), want) || f.Size != int64(len(want)) {
			t.Errorf("%d: %+v", i, f)
		}
		if b, err := os.ReadFile(f.Path); err != nil || string(b) != want {
			t.Errorf("%q, %v", b, err)
		}
		if st, err := os.Stat(f.Path); err != nil || st.Mode() != 0o600 {
			t.Errorf("%v, %v", st.Mode(), err)
		}
	}
	if st, err := os.Stat(s.Dir(id)); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	list, err := s.List(id)
	if err != nil || len(list) != 3 || list[0].Name != "shot-2.png" || list[0].Size != 10 {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := s.List("none"); err != nil || list == nil || len(list) != 0 {
		t.Errorf("a session without files: %v, %v", list, err)
	}
}

// FEATURES: R136
func TestPut_LeavesNoPart_WhenItFails(t *testing.T) {
	s := newStore(t)
	s.put(t, "kept", "12345")
	broken := func(text string) io.Reader {
		return io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	_, err := s.Put(id, "f", 10, Limits{}, broken("123"))
	wantCode(t, "interrupted", err, api.CodeUnavailable, "interrupted after 3 bytes")
	_, err = s.Put(id, "f", 10, Limits{File: 9}, iotest.ErrReader(errors.New("read though it was refused")))
	wantCode(t, "large", err, api.CodeLimit, "files.max_size")
	_, err = s.Put(id, "f", -1, Limits{File: 9}, strings.NewReader("0123456789"))
	wantCode(t, "large, of unknown size", err, api.CodeLimit, "files.max_size")
	_, err = s.Put(id, "f", 3, Limits{Total: 7}, iotest.ErrReader(errors.New("read though it was refused")))
	wantCode(t, "much together", err, api.CodeLimit, "files.max_total")
	_, err = s.Put(id, "f", -1, Limits{Total: 7}, strings.NewReader("123"))
	wantCode(t, "much together, of unknown size", err, api.CodeLimit, "files.max_total")
	_, err = s.Put("removed", "f", 1, Limits{}, strings.NewReader("1"))
	wantCode(t, "no session", err, api.CodeNotFound, "removed")
	if all := s.names(t); !slices.Equal(all, []string{"kept"}) {
		t.Errorf("left: %q", all)
	}
	if _, err := s.Put(id, "f", 2, Limits{File: 2, Total: 7}, strings.NewReader("12")); err != nil {
		t.Errorf("as much as the limits allow: %v", err)
	}
	if len(s.active) != 0 {
		t.Errorf("still counted: %v", s.active)
	}
}

// TestPut_CountsFilesTogether_WhileTheyArrive checks that files that arrive together share the limit of their session.
//
// FEATURES: R136
func TestPut_CountsFilesTogether_WhileTheyArrive(t *testing.T) {
	s := newStore(t)
	l := Limits{Total: 10}
	r, w := io.Pipe()
	first := make(chan error, 1)
	go func() {
		_, err := s.Put(id, "first", -1, l, r)
		first <- err
	}()
	if _, err := w.Write([]byte("12345678")); err != nil {
		t.Fatal(err)
	}
	_, err := w.Write([]byte("9")) // read once the first bytes were counted
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Put(id, "second", 3, l, strings.NewReader("123"))
	wantCode(t, "the second", err, api.CodeLimit, "files.max_total")
	s.Clear(slog.New(slog.DiscardHandler)) // keeps what arrives
	if err := errors.Join(w.Close(), <-first); err != nil {
		t.Fatal(err)
	}
	if all := s.names(t); !slices.Equal(all, []string{"first"}) {
		t.Errorf("stored: %q", all)
	}
}

// TestClear checks that a killed daemon leaves a part, which the next one removes.
//
// FEATURES: R136
func TestClear(t *testing.T) {
	s := newStore(t)
	s.put(t, ".env", "kept")
	p, err := atomicfile.Create(s.Dir(id), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(id); err != nil || len(list) != 1 {
		t.Errorf("a part is listed: %v, %v", list, err)
	}
	s.Clear(slog.New(slog.DiscardHandler))
	if all := s.names(t); !slices.Equal(all, []string{".env"}) {
		t.Errorf("left: %q, and %s was a part", all, p.Name())
	}
}

// FEATURES: R136
func TestOpen_RejectsAllButRegularFiles(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "directory", fifo: "pipe", "/dev/null": "device", filepath.Join(dir, "none"): "no file", filepath.Join(fifo, "x"): "no file"} {
		_, _, err := Open(path)
		var e *api.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, want) || e.Hint == "" {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	_, _, err := Open(dir)
	wantCode(t, "a directory", err, api.CodeInvalid, "tar -C")
}

// TestOpenStored_FollowsNoLink checks that a program of a session cannot replace a stored file by a link.
//
// FEATURES: R136
func TestOpenStored_FollowsNoLink(t *testing.T) {
	s := newStore(t)
	f := s.put(t, "f", "text")
	other := filepath.Join(t.TempDir(), "other")
	if err := errors.Join(os.WriteFile(other, []byte("secret"), 0o600), os.Symlink(other, filepath.Join(s.Dir(id), "symbolic")),
		os.Link(other, filepath.Join(s.Dir(id), "hard")), os.Mkdir(filepath.Join(s.Dir(id), "dir"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"symbolic", "hard", "dir", "none", "..", "../f", "", f.Path} {
		_, _, err := s.OpenStored(id, name)
		wantCode(t, name, err, api.CodeNotFound, "put into the session")
	}
	r, st, err := s.OpenStored(id, "f")
	if err != nil || st.Size() != 4 {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
}

// FEATURES: R136
func TestSafeName(t *testing.T) {
	long := strings.Repeat("ä", 150)
	for given, want := range map[string]string{
		"shot.png": "shot.png", "a b.txt": "a b.txt", "ä.txt": "ä.txt", ".env": ".env", "a\nb": "a_b", "a\x00b": "a_b", "a\xffb": "a_b",
		"-rf": "_rf", "\u202egnp.exe": "_gnp.exe", "a\u00a0b": "a_b", "…": "…", long + ".tar.gz": long[:192] + ".tar.gz", long: long[:200],
		".0123456789abc.part": "_0123456789abc.part", "a\x1b]0;x\a": "a_]0;x_",
	} {
		if got, err := SafeName(given); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", given, got, err, want)
		}
	}
	for _, given := range []string{"", ".", "..", "a/b", "../x", "/etc/passwd"} {
		_, err := SafeName(given)
		wantCode(t, given, err, api.CodeInvalid, "--as")
	}
	for given, want := range map[string]string{"a.png": "a-2.png", "a": "a-2", ".env": ".env-2", "a.tar.gz": "a-2.tar.gz", "a.": "a-2."} {
		if got := addNumber(given, 2); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}

func FuzzSafeName(f *testing.F) {
	for _, s := range []string{"shot.png", "..", "-", "a/b", "\xff", ".a.part", strings.Repeat("ä", 300) + ".tar.gz", "a\nb", strings.Repeat("-", 201)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, given string) {
		name, err := SafeName(given)
		if err != nil {
			return
		}
		if name == "" || name == "." || name == ".." || len(name) > maxName || name[0] == '-' || !utf8.ValidString(name) ||
			strings.ContainsAny(name, "/\x00\n") || atomicfile.IsPending(name) || len(addNumber(name, maxFiles)) > 255 {
			t.Errorf("%q: %q", given, name)
		}
		if again, err := SafeName(name); err != nil || again != name {
			t.Errorf("%q: %q is not stored, but %q, %v", given, name, again, err)
		}
	})
}

func TestPut_LargeInParts(t *testing.T) {
	s := newStore(t)
	text := bytes.Repeat([]byte("0123456789abcdef"), 3*chunk/16+1)
	f, err := s.Put(id, "f", -1, Limits{}, iotest.HalfReader(bytes.NewReader(text)))
	if err != nil || f.Size != int64(len(text)) {
		t.Fatal(f, err)
	}
	if b, err := os.ReadFile(f.Path); err != nil || !bytes.Equal(b, text) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
