//go:build unix

package recording

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestCast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.cast")
	text := `{"version": 2, "width": 20, "height": 4}
[0.5, "o", "one"]
[1, "m", "a marker"]
[2, "r", "30x5"]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := OpenCast(path)
	if err != nil {
		t.Fatal(err)
	}
	start, end := c.Span()
	if !start.Equal(time.Unix(0, 0)) || end.Sub(start) != 2*time.Second {
		t.Errorf("%v to %v", start, end)
	}
	steps, err := c.Open(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	defer steps.Close()
	first, err := steps.Next()
	if err != nil || !first.Clear || first.Cols != 20 || first.Rows != 4 {
		t.Errorf("initial screen: %+v %v", first, err)
	}
	second, err := steps.Next()
	if err != nil || string(second.Data) != "one" || second.At.Sub(start) != 500*time.Millisecond {
		t.Errorf("%+v %v", second, err)
	}
	third, err := steps.Next()
	if err != nil || third.Cols != 30 || third.Rows != 5 {
		t.Errorf("%+v %v", third, err)
	}
	if _, err := steps.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
	for _, text := range []string{"", "{}", "not a recording", text + "[3, \"o\""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenCast(path); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestIsFile(t *testing.T) {
	for name, want := range map[string]bool{"web": false, "a.cast": true, "dir/a": true, "./a": true, "cast": false} {
		if IsFile(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
