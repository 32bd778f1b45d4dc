package notify

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func code(n int) *int { return &n }

// FEATURES: R82
func TestOptions_ShouldNotify(t *testing.T) {
	bell := Options{Bell: true, After: 10 * time.Second}
	for _, c := range []struct {
		name string
		n    Options
		f    FinishedEvent
		want bool
	}{
		{"nobody is asked to", Options{}, FinishedEvent{DurationMS: 60_000}, false},
		{"too short", bell, FinishedEvent{DurationMS: 9_999}, false},
		{"long enough", bell, FinishedEvent{DurationMS: 10_000}, true},
		{"somebody sees it", bell, FinishedEvent{DurationMS: 60_000, Attended: true}, false},
		{"somebody sees it, but may have gone", Options{Bell: true, Always: time.Minute}, FinishedEvent{DurationMS: 60_000, Attended: true}, true},
		{"somebody sees it, wanted", Options{Bell: true, Attended: true}, FinishedEvent{Attended: true}, true},
		{"only failures", Options{Bell: true, Failed: true}, FinishedEvent{ExitCode: code(0)}, false},
		{"a failure", Options{Bell: true, Failed: true}, FinishedEvent{ExitCode: code(2)}, true},
		{"a signal", Options{Bell: true, Failed: true}, FinishedEvent{Signal: "SIGKILL"}, true},
	} {
		if got := c.n.ShouldNotify(&c.f); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

// FEATURES: R82
func TestSender_SendFinished(t *testing.T) {
	var got FinishedEvent
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("got request %s %s", r.Method, r.Header)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
	}))
	defer hook.Close()
	file := filepath.Join(t.TempDir(), "told")
	n, err := Parse([]string{"bell", "desktop", "webhook=" + hook.URL, `command=printf '%s|%s' "$LONGTERM_EXIT" "$LONGTERM_COMMAND" >` + file}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var terminal []byte
	s := Sender{Terminals: func(b []byte) int { terminal = b; return 1 }}
	f := FinishedEvent{Name: "build", Command: "make \x1b]0;x\a all", ExitCode: code(2), DurationMS: 61_234, Errors: 3}
	if err := s.SendFinished(t.Context(), &n, &f); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b]9;✗ 2: make  ]0;x  all (1m1.2s), 3 errors\x1b\\\a"; string(terminal) != want {
		t.Errorf("the terminal got %q\nwant %q", terminal, want)
	}
	if got.Errors != 3 || got.ExitCode == nil || *got.ExitCode != 2 {
		t.Errorf("the webhook got %+v", got)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "2|"+f.Command {
		t.Errorf("the command wrote %q, %v", b, err)
	}
}

func TestSender_SendFinished_Fails(t *testing.T) {
	refuse := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer refuse.Close()
	left := make(chan struct{})
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-left:
		}
	}))
	defer hang.Close()
	defer close(left)
	for _, c := range []struct {
		n    Options
		want string
	}{
		{Options{Webhook: refuse.URL}, "418"},
		{Options{Webhook: hang.URL, Timeout: 20 * time.Millisecond}, "deadline"},
		{Options{Command: []string{"sh", "-c", "echo sorry; exit 3"}}, "exit status 3: sorry"},
		{Options{Command: []string{"/does/not/exist"}}, "no such file"},
	} {
		err := (&Sender{}).SendFinished(context.Background(), &c.n, &FinishedEvent{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got error %v", c.n, err)
		}
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"", "ring", "webhook=", "webhook=ftp://x", "webhook=http://", "command="} {
		if n, err := Parse([]string{bad}, 0); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, n)
		}
	}
}
