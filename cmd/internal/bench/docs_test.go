package bench

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const pageOfBenches = "# Figures\n\nOf one:\n\n```console\n$ longterm bench one --runs 3\n# long ago\nold 1\n```\n\nText with `$ longterm bench no` stays.\n" +
	"\n```sh\n$ longterm bench no\n```\n\n```console\n$ longterm bench two\n```\n\n```console\n$ longterm ls\n```\nEnd"

// TestDocsPage checks that the figures of a page are replaced and the rest is unchanged, any number of times, that a
// failed bench keeps its figures, and that edits during a bench are not lost.
func TestDocsPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	link := path + ".link"
	if err := errors.Join(os.WriteFile(path, []byte(pageOfBenches), 0o640), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	text := func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var ran []string
	d := docsBench{
		conditions: func() string { return "here" },
		run: func(_ context.Context, args []string) ([]byte, error) {
			ran = append(ran, strings.Join(args, " "))
			if args[0] == "two" {
				return nil, errors.New("no tmux")
			}
			if err := os.WriteFile(path, []byte(strings.Replace(text(), "Of one", "Of the first", 1)), 0o640); err != nil {
				return nil, err
			}
			return []byte("  new  1 \n\n      2\n\n"), nil
		},
	}
	want := strings.Replace(strings.Replace(pageOfBenches, "# long ago\nold 1\n", "# here\n  new  1\n\n      2\n", 1), "Of one", "Of the first", 1)
	for range 2 {
		r, err := d.page(t.Context(), link, io.Discard)
		if err != nil || !slices.Equal(r.Measured, []string{"longterm bench one --runs 3"}) || !slices.Equal(r.Failed, []string{"longterm bench two"}) {
			t.Fatalf("%+v, %v", r, err)
		}
		if got := text(); got != want {
			t.Fatalf("%s", got)
		}
	}
	if want := []string{"one --runs 3", "two", "one --runs 3", "two"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q", ran)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v", err)
	}

	ran = nil
	d.only = []string{"two"}
	if _, err := d.page(t.Context(), path, io.Discard); err != nil || !slices.Equal(ran, []string{"two"}) {
		t.Errorf("only two: %q, %v", ran, err)
	}
	d.only = []string{"three"}
	if _, err := d.page(t.Context(), path, io.Discard); err == nil || !strings.Contains(err.Error(), "shows no `longterm bench three`") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(path, []byte("nothing\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := d.page(t.Context(), path, io.Discard); err == nil || !strings.Contains(err.Error(), "shows no bench") {
		t.Errorf("%v", err)
	}
}

// TestDocsPageChanged checks that a result is printed if the page can no longer show it.
func TestDocsPageChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte(pageOfBenches), 0o600); err != nil {
		t.Fatal(err)
	}
	d := docsBench{only: []string{"one"}, conditions: func() string { return "here" }, run: func(context.Context, []string) ([]byte, error) {
		return []byte("figures 7\n"), os.WriteFile(path, []byte("rewritten\n"), 0o600)
	}}
	if _, err := d.page(t.Context(), path, io.Discard); err == nil || !strings.Contains(err.Error(), "figures 7") {
		t.Errorf("%v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "rewritten\n" {
		t.Errorf("%q, %v", b, err)
	}
}
