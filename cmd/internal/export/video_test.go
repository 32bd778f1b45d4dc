//go:build unix

package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

const shortCast = `{"version": 2, "width": 20, "height": 3}
[0.0, "o", "one"]
[1.0, "o", "\r\ntwo"]
`

func exportShort(t *testing.T, file string) error {
	t.Helper()
	src := filepath.Join(t.TempDir(), "short.cast")
	if err := os.WriteFile(src, []byte(shortCast), 0o600); err != nil {
		t.Fatal(err)
	}
	var o Flags
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Add(f)
	if err := f.Set("output", file); err != nil {
		t.Fatal(err)
	}
	return o.Run(t.Context(), &output.Printer{Stdout: os.Stdout, Stderr: os.Stderr}, nil, src)
}

// TestVideo checks that videos are as long as the recording and its last screen, and that no other file is left.
//
// FEATURES: R120
func TestVideo(t *testing.T) {
	tier.Need(t, "ffmpeg", "ffprobe")
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	for _, format := range []string{"mp4", "webm"} {
		file := filepath.Join(t.TempDir(), "v."+format)
		if err := exportShort(t, file); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=width,height,nb_read_frames", "-of", "csv=p=0", file).Output()
		w, frames, _ := strings.Cut(strings.TrimSpace(string(out)), ",")
		if err != nil || w == "" || !strings.HasSuffix(frames, ",60") { // 3 s of 20 pictures
			t.Errorf("%s: %v, %q", format, err, out)
		}
		if left, _ := os.ReadDir(tmp); len(left) > 0 {
			t.Errorf("%s: files left: %v", format, left)
		}
	}
}

func TestVideoWithoutFfmpeg(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := exportShort(t, filepath.Join(t.TempDir(), "v.mp4")); err == nil || !strings.Contains(err.Error(), "use gif, apng or svg") {
		t.Errorf("%v", err)
	}
}

// TestVideoThatFails checks that the encoder's message is the reported reason, not the broken pipe.
func TestVideoThatFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!/bin/sh\necho no such codec >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if err := exportShort(t, filepath.Join(t.TempDir(), "v.mp4")); err == nil || !strings.Contains(err.Error(), "no such codec") {
		t.Errorf("%v", err)
	}
}
