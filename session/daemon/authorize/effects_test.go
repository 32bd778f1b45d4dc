package authorize

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/longterm-dev/longterm/session/policy"
)

// FEATURES: R63
func TestEffectsOf_MeasuresFiles_WithinTheDirectory(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, name := range []string{"a/b/one", "a/two", "x1", "x2"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 700), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "empty/e"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/link", "out"} {
		if err := os.Symlink(other, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for words, want := range map[string]string{
		"a":               "deletes a: 2 files, 1 link, 1.4 kB",
		"x*":              "deletes x*: 2 files, 1.4 kB",
		"a/b x1":          "deletes a/b x1: 2 files, 1.4 kB",
		"empty/e":         "deletes empty/e: an empty directory",
		"empty":           "deletes empty: 2 empty directories",
		"none":            "deletes none: nothing is there now",
		"out":             "deletes out: 1 link",
		"out/secret":      "deletes out/secret: nothing is there now", // the link leads out
		"../x":            "deletes ../x",
		"\x1b[2Jx\u202ey": "deletes  [2Jx<U+202E>y",
	} {
		argv := append([]string{"rm", "-r"}, splitWords(words)...)
		j := policy.Judgement{Commands: []policy.Command{{Argv: argv, Verdict: policy.Ask, Dir: dir}}}
		if got := effectsOf(&Request{Cwd: dir}, &j); len(got) != 1 || got[0] != want {
			t.Errorf("%q: %q, not %q", words, got, want)
		}
	}
}

// TestMeasureWithin_LeavesOtherDirectories checks that absolute names are measured too, but only those in the request's
// directory.
func TestMeasureWithin_LeavesOtherDirectories(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, other} {
		if err := os.WriteFile(filepath.Join(d, "f"), []byte("abc"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := measureWithin(t.Context(), dir, []string{filepath.Join(dir, "f")}); got != "1 file, 3 bytes" {
		t.Errorf("%q", got)
	}
	for _, files := range [][]string{{filepath.Join(other, "f")}, {filepath.Join(dir, "f"), filepath.Join(other, "f")}, nil} {
		if got := measureWithin(t.Context(), dir, files); got != "" {
			t.Errorf("%q: %q", files, got)
		}
	}
}

func splitWords(s string) []string {
	if s == "a/b x1" {
		return []string{"a/b", "x1"}
	}
	return []string{s}
}

func TestMeasure_IsBounded(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(dir, "d", fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := measure(t.Context(), dir, []string{"d"}); got != "20 files" {
		t.Errorf("%q", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := measureWithin(ended, dir, []string{filepath.Join(dir, "d")}); got != "" && got != "nothing is there now" {
		t.Errorf("%q after the time", got)
	}
	x := extent{files: measureEntries, bytes: 31_200_000, isCut: true}
	if got := x.String(); got != "more than 10000 files, 31 MB" {
		t.Errorf("%q", got)
	}
	for range cap(measureSlots) {
		measureSlots <- struct{}{}
	}
	if got := measureWithin(t.Context(), dir, []string{filepath.Join(dir, "d")}); got != "" {
		t.Errorf("%q while others hang", got)
	}
	for range cap(measureSlots) {
		<-measureSlots
	}
}

func TestEffectsOf_IsBounded(t *testing.T) {
	var j policy.Judgement
	for i := range 50 {
		j.Commands = append(j.Commands, policy.Command{Argv: []string{fmt.Sprint("prog", i)}, Verdict: policy.Ask})
	}
	if got := effectsOf(&Request{}, &j); len(got) != maxEffects+1 || got[maxEffects] != "and 42 more effects" {
		t.Errorf("%q", got)
	}
	if got := effectsOf(&Request{}, &policy.Judgement{Commands: []policy.Command{{Argv: []string{"rm", "x"}}}}); slices.Contains(got, "deletes x") {
		t.Errorf("of a command that needs no approval: %q", got)
	}
}
