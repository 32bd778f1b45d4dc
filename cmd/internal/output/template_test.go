//go:build unix

package output

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// FEATURES: R119
func TestTemplate(t *testing.T) {
	code := 3
	full := api.Session{
		ID: "0123456789", Name: "web", State: "exited", ExitCode: &code, Duration: 65_000, Argv: []string{"a", "b"},
		Labels: map[string]string{"team": "build"}, Title: "x\x1b[31m\ny", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Shell: &api.Shell{Phase: "prompt"},
	}
	for text, want := range map[string]string{
		`{{.name}}\t{{.state}}`:                             "web\texited",
		`{{short .id}} {{.exit_code}} {{.shell.phase}}`:     "01234567 3 prompt",
		`{{index .labels "team"}}/{{index .labels "none"}}`: "build/",
		`{{elapsed .duration_ms}} {{.created}}`:             Elapsed(65_000) + " 2026-01-02T03:04:05Z",
		`{{join "," .argv}} {{json .argv}} {{upper .name}}`: `a,b ["a","b"] WEB`,
		`{{shorten 2 .name}}`:                               "w…",
		`{{with .needs_input.kind}}asks{{end}}-{{.ended}}`:  "-",
		`{{range .argv}}<{{.}}>{{end}}`:                     "<a><b>",

		// A missing field is empty in conditions and in output, and so are its fields.
		`{{with .needs_input}}asks {{.kind}}{{else}}none{{end}}`:                              "none",
		`{{if .needs_input}}asks{{else if .shell}}{{.shell.phase}}{{end}}`:                    "prompt",
		`{{range .argv}}{{with $.needs_input}}asks{{end}}{{.}}{{end}}`:                        "ab",
		`{{if and .name (not .needs_input)}}quiet{{end}}{{if or .needs_input .name}}!{{end}}`: "quiet!",
		`[{{.needs_input}}{{.needs_input.kind}}]`:                                             "[]",
		`{{if .needs_input.kind | eq ""}}{{with .name}}{{.}}{{end}}{{end}}`:                   "web",
		`{{with .shell}}{{.phase}}{{with $.needs_input}}asks{{end}}{{end}}`:                   "prompt",
	} {
		f, err := NewTemplate(t.Context(), "--format", text, api.Session{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var b strings.Builder
		if err := f.Write(t.Context(), &b, full); err != nil || b.String() != want+"\n" {
			t.Errorf("%s: %q, %v; want %q", text, b.String(), err, want)
		}
	}
	f, err := NewTemplate(t.Context(), "--format", "{{.title}}", api.Session{})
	var b strings.Builder
	if err != nil || f.Write(t.Context(), &b, full) != nil || strings.ContainsAny(strings.TrimSuffix(b.String(), "\n"), "\x1b\n") {
		t.Errorf("a hostile title as %q, %v", b.String(), err)
	}
}

func TestTemplateMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{{.nmae}}`:                   `no field "nmae"; did you mean "name"?`,
		`{{.shell.phaze}}`:            `did you mean "phase"?`,
		`{{.qqqqqqqqqqqqqq}}`:         "fields: activity, agent",
		`{{.name`:                     "fields are written {{.name}}",
		`{{frobnicate .name}}`:        `"frobnicate" not defined`,
		`#{session_name}`:             "tmux's way",
		`{{.name.first}}`:             "first",
		strings.Repeat("x", 64<<10+1): "65536 bytes at most",
	} {
		if _, err := NewTemplate(t.Context(), "--format", text, api.Session{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v; want %s", text, err, want)
		}
	}
}

// TestTemplateInterrupted checks that a template that runs forever is canceled with its context, both while it is
// parsed and while it is executed.
func TestTemplateInterrupted(t *testing.T) {
	const endless = "{{range 100000000000}}x{{end}}"
	f, err := NewTemplate(t.Context(), "--format", `{{if .name}}`+endless+`{{end}}`, struct {
		Name string `json:"name"`
	}{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewTemplate(ctx, "--format", endless, api.Session{}); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	// A template that writes nothing cannot be interrupted: it is abandoned, here for a moment.
	if _, err := NewTemplate(ctx, "--format", "{{range 5000000}}{{end}}", api.Session{}); !errors.Is(err, context.Canceled) {
		t.Errorf("silent: %v", err)
	}
	var b strings.Builder
	if err := f.Write(ctx, &b, api.Session{Name: "web"}); !errors.Is(err, context.Canceled) || b.Len() > 0 {
		t.Errorf("used: %q, %v", b.String(), err)
	}
}
