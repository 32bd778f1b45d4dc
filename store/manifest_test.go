package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestManifest checks that a session is rebuilt from its directory if the database is lost.
//
// FEATURES: R90, R93
func TestManifest(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []Session{{ID: "1", Name: "first"}, full("1"), {ID: "1", Name: "last"}} {
		must(t, WriteManifest(dir, want))
		got, err := ReadManifest(dir)
		must(t, err)
		if !reflect.DeepEqual(normal(got), normal(want)) {
			t.Errorf("manifest\n%+v\nwant\n%+v", got, want)
		}
	}
	if entries, err := os.ReadDir(dir); len(entries) != 1 || err != nil {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

// normal makes equal times equal values.
func normal(s Session) Session {
	s.Created, s.Started, s.Ended = s.Created.UTC(), s.Started.UTC(), s.Ended.UTC()
	return s
}

func TestManifestErrors(t *testing.T) {
	for content, want := range map[string]error{
		"":                                 ErrManifest,
		"[]":                               ErrManifest,
		`{"version":1}`:                    ErrManifest,
		`{"id":"1"}`:                       ErrManifest,
		`{"version":1,"id":"1","argv`:      ErrManifest,
		`{"version":2,"id":"1"}`:           ErrNewer,
		`{"version":1,"id":"1","new":[1]}`: nil,
	} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, ManifestName), []byte(content), 0o600))
		if _, err := ReadManifest(dir); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", content, err, want)
		}
	}
	if _, err := ReadManifest(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
}

// TestManifest_Unchanged_AfterFailedWrite checks that a failed write leaves the manifest unchanged.
func TestManifest_Unchanged_AfterFailedWrite(t *testing.T) {
	dir := t.TempDir()
	must(t, WriteManifest(dir, full("1")))
	must(t, os.Mkdir(filepath.Join(dir, ManifestName+".tmp"), 0o700))
	if err := WriteManifest(dir, full("2")); err == nil {
		t.Error("no error")
	}
	if got, err := ReadManifest(dir); got.ID != "1" || err != nil {
		t.Errorf("%+v %v", got, err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"version":1,"id":"1","argv":["a"],"created":"2025-01-02T03:04:05.000000006Z","exit_code":1}`))
	f.Add([]byte(`{"version":2,"id":"1"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeManifest(b)
		if err != nil {
			return
		}
		dir := t.TempDir()
		must(t, WriteManifest(dir, r))
		again, err := ReadManifest(dir)
		must(t, err)
		if !reflect.DeepEqual(normal(again), normal(r)) {
			t.Errorf("%+v becomes %+v", r, again)
		}
	})
}

func BenchmarkWriteManifest(b *testing.B) {
	dir := b.TempDir()
	r := full("1")
	for b.Loop() {
		must(b, WriteManifest(dir, r))
	}
}
