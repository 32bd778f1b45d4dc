package metrics

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestPageIsTheFormat checks that the page follows the text format: label values, help texts and numbers that would
// break a line or a quote are escaped, so that one bad value damages no other sample.
func TestPageIsTheFormat(t *testing.T) {
	var p Page
	p.Family("longterm_x", "gauge", "One\\two\nthree \"four\".")
	p.Sample("longterm_x", 1)
	p.Sample("longterm_x", 0.25, "state", "a\"b\\c\nd")
	p.Sample("longterm_x", 1e9, "a", "1", "b", "")
	p.Sample("longterm_x", 7, "name without a value")
	p.SingleSample("longterm_y_total", "counter", "Two.", 18446744073709551615)
	const want = `# HELP longterm_x One\\two\nthree "four".
# TYPE longterm_x gauge
longterm_x 1
longterm_x{state="a\"b\\c\nd"} 0.25
longterm_x{a="1",b=""} 1e+09
longterm_x 7
# HELP longterm_y_total Two.
# TYPE longterm_y_total counter
longterm_y_total 1.8446744073709552e+19
`
	if got := string(p.Bytes()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// samples are a page's lines that are no comments, by name and labels.
func samples(t *testing.T, r *Requests) map[string]string {
	t.Helper()
	var p Page
	r.Write(&p)
	of := map[string]string{}
	for line := range strings.Lines(string(p.Bytes())) {
		if line[0] == '#' {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		if _, twice := of[line[:at]]; twice {
			t.Errorf("%s is there twice", line[:at])
		}
		of[line[:at]] = strings.TrimSpace(line[at:])
	}
	return of
}

// TestHistogram checks that a time on a bound counts in that bound's bucket, buckets are cumulative, and a waiting
// request counts as a request but not in the times.
func TestHistogram(t *testing.T) {
	var r Requests
	for _, took := range []time.Duration{0, 500 * time.Microsecond, 500*time.Microsecond + 1, 5 * time.Second, 5*time.Second + 1, time.Hour} {
		r.Begin()
		r.End(200, took, false)
	}
	r.Begin()
	r.End(200, time.Hour, true)
	r.Begin()
	r.End(404, time.Millisecond, false)
	r.Begin() // still running
	got := samples(t, &r)
	const name = "longterm_http_request_duration_seconds"
	for sample, want := range map[string]string{
		name + `_bucket{le="0.0005"}`: "2", name + `_bucket{le="0.001"}`: "4", name + `_bucket{le="1"}`: "4",
		name + `_bucket{le="5"}`: "5", name + `_bucket{le="+Inf"}`: "7", name + "_count": "7",
		`longterm_http_requests_total{code="200"}`: "7", `longterm_http_requests_total{code="404"}`: "1",
		"longterm_http_requests_in_flight": "1",
	} {
		if got[sample] != want {
			t.Errorf("%s is %s, want %s", sample, got[sample], want)
		}
	}
	if len(got) != len(bounds)+1+2+3 {
		t.Errorf("%d samples: %v", len(got), got)
	}
}

// TestNoRequestsYet checks that the page is complete before the first request: its values are zero.
func TestNoRequestsYet(t *testing.T) {
	got := samples(t, new(Requests))
	for _, sample := range []string{"longterm_http_requests_in_flight", "longterm_http_request_duration_seconds_count", "longterm_http_request_duration_seconds_sum"} {
		if got[sample] != "0" {
			t.Errorf("%s is %q", sample, got[sample])
		}
	}
}

// TestPagesAreOfOneMoment checks that requests that end while a page is written are in it completely or not at all: the
// last bucket equals the count.
func TestPagesAreOfOneMoment(t *testing.T) {
	const writers, each = 4, 250
	var r Requests
	var work sync.WaitGroup
	for i := range writers {
		work.Go(func() {
			for n := range each {
				r.Begin()
				r.End(200+i, time.Duration(n)*time.Millisecond, n%5 == 0)
			}
		})
	}
	for range 50 {
		got := samples(t, &r)
		inf, count := got[`longterm_http_request_duration_seconds_bucket{le="+Inf"}`], got["longterm_http_request_duration_seconds_count"]
		if inf != count {
			t.Fatalf("%s in the last bucket of %s", inf, count)
		}
	}
	work.Wait()
	got := samples(t, &r)
	for i := range writers {
		if code := fmt.Sprintf(`longterm_http_requests_total{code="%d"}`, 200+i); got[code] != fmt.Sprint(each) {
			t.Errorf("%s is %s", code, got[code])
		}
	}
	if got["longterm_http_requests_in_flight"] != "0" || got["longterm_http_request_duration_seconds_count"] != fmt.Sprint(writers*each*4/5) {
		t.Errorf("in the end: %v", got)
	}
}
