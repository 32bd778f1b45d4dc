//go:build unix

package tmuxcompat

import (
	"os"
	"testing"
)

// TestChannels checks that a signal wakes the waiting callers only, and without any the next one.
func TestChannels(t *testing.T) {
	dir := t.TempDir()
	if err := signal(dir); err != nil {
		t.Fatal(err)
	}
	if f, err := begin(dir); f != nil || err != nil {
		t.Fatalf("an earlier signal is lost: %v, %v", f, err)
	}
	f, err := begin(dir)
	if f == nil || err != nil {
		t.Fatalf("a signal arrives twice: %v, %v", f, err)
	}
	if err := signal(dir); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("not woken: %d, %v", n, err)
	}
	f.Close()
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestCommandWords(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "a b ; c": 2, "a 'b ; c'": 1, "a\\; b": 1, "a\nb;": 2, `a "b \" ; c"`: 1, ";;": 0} {
		if got, ok := commandWords(text); len(got) != want || !ok {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
	if _, ok := commandWords("a 'b"); ok {
		t.Error("an open quote is accepted")
	}
}
