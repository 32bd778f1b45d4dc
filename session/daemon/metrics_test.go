//go:build unix

package daemon

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

var (
	metricHelp   = regexp.MustCompile(`^# HELP ([a-z_][a-z0-9_]*) (\S.*\.)$`)
	metricType   = regexp.MustCompile(`^# TYPE ([a-z_][a-z0-9_]*) (counter|gauge|histogram)$`)
	metricSample = regexp.MustCompile(`^([a-z_][a-z0-9_]*)(?:\{([^{}]*)\})? (\S+)$`)
	metricLabel  = regexp.MustCompile(`^([a-z_][a-z0-9_]*)="((?:[^"\\]|\\["\\n])*)"$`)
)

// checkMetrics parses a page strictly by the format and its conventions, and returns the samples.
func checkMetrics(t *testing.T, contentType, page string) map[string]float64 {
	t.Helper()
	if contentType != "text/plain; version=0.0.4; charset=utf-8" || !strings.HasSuffix(page, "\n") {
		t.Errorf("content type %q", contentType)
	}
	samples, families, labels := map[string]float64{}, map[string]string{}, map[string]map[string]bool{}
	family, kind, helped := "", "", ""
	bucket := math.Inf(-1)
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		if m := metricHelp.FindStringSubmatch(line); m != nil {
			helped = m[1]
			continue
		}
		if m := metricType.FindStringSubmatch(line); m != nil {
			if family, kind = m[1], m[2]; helped != family || families[family] != "" {
				t.Errorf("%s: its help is %q; before: %q", family, helped, families[family])
			}
			families[family], bucket = kind, math.Inf(-1)
			if !strings.HasPrefix(family, "longterm_") && !strings.HasPrefix(family, "go_") || (kind == "counter") != strings.HasSuffix(family, "_total") {
				t.Errorf("%s is no name of a %s", family, kind)
			}
			continue
		}
		m := metricSample.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("no line of a page: %q", line)
			continue
		}
		name, value := m[1], math.NaN()
		if v, err := strconv.ParseFloat(m[3], 64); err == nil {
			value = v
		}
		base := name
		if kind == "histogram" {
			base = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		}
		if _, twice := samples[name+m[2]]; base != family || twice || math.IsNaN(value) || value < 0 {
			t.Errorf("%q in the family %s; before: %v", line, family, twice)
		}
		samples[name+m[2]] = value
		for pair := range strings.SplitSeq(m[2], ",") {
			l := metricLabel.FindStringSubmatch(pair)
			switch {
			case m[2] == "":
			case l == nil:
				t.Errorf("no label: %q", pair)
			case l[1] == "session" || l[1] == "name" || l[1] == "path" || l[1] == "pid" || l[1] == "job":
				t.Errorf("%s has as many values as there are: %q", name, pair)
			default:
				if labels[name+l[1]] == nil {
					labels[name+l[1]] = map[string]bool{}
				}
				if labels[name+l[1]][l[2]] = true; len(labels[name+l[1]]) > 30 {
					t.Errorf("the label %s of %s has more than 30 values", l[1], name)
				}
			}
		}
		if strings.HasSuffix(name, "_bucket") && kind == "histogram" {
			if value < bucket {
				t.Errorf("%s falls at %s", name, m[2])
			}
			bucket = value
		}
		if strings.HasSuffix(name, "_count") && kind == "histogram" && value != bucket {
			t.Errorf("%s is %v, its last bucket %v", name, value, bucket)
		}
	}
	if len(families) < 15 {
		t.Errorf("only %d families", len(families))
	}
	return samples
}

// TestMetrics checks that metrics are those of the daemon, at both paths, and that each response identifies its
// request.
//
// FEATURES: R89
func TestMetrics(t *testing.T) {
	t.Parallel()
	h := startTCP(t)
	get[api.Session](h.running, "POST", "/sessions", api.NewSession{Name: "runs", Argv: []string{"sleep", "600"}, Cwd: "/"})
	get[api.Session](h.running, "POST", "/sessions", api.NewSession{Name: "ends", Argv: []string{"echo", "0123456789"}, Cwd: "/"})
	h.wait("ends", api.Condition{Kind: "exit"})
	h.ask("GET", "/sessions/none", nil)
	a := h.ask("GET", "/metrics", nil)
	m := checkMetrics(t, a.header.Get("Content-Type"), string(a.body))
	for name, want := range map[string]float64{
		`longterm_build_infoversion="test"`: 1, `longterm_sessionsstate="running"`: 1, `longterm_sessionsstate="exited"`: 1, "longterm_keepers": 1,
		"longterm_output_bytes": 12, `longterm_http_requests_totalcode="404"`: 1, "longterm_jobs_running": 0, "longterm_approvals_pending": 0,
		"longterm_http_requests_in_flight": 1, // this one
	} {
		if got, ok := m[name]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
	if m["longterm_events_total"] < 3 || m["longterm_http_request_duration_seconds_count"] < 1 {
		t.Errorf("%v events, %v requests", m["longterm_events_total"], m["longterm_http_request_duration_seconds_count"])
	}
	if a.header.Get("Longterm-Call") == "" {
		t.Error("the call has no id")
	}
	if a := h.ask("GET", "/../metrics", nil); a.status != 200 || !strings.Contains(string(a.body), "longterm_sessions") {
		t.Errorf("at /metrics: %d %.100s", a.status, a.body)
	}
	h.want("without a token", h.call("", "GET", "/metrics", nil), 401, "unauthorized")
	h.want("with one", h.call(h.token(api.NewToken{Name: "scrape"}), "GET", "/metrics", nil), 200, "longterm_build_info")
	h.want("with one for a session", h.call(h.token(api.NewToken{Name: "one", Session: "runs"}), "GET", "/metrics", nil), 403, "one session")
}
