// Package metrics writes metrics in Prometheus' text format (version 0.0.4) and counts requests for the daemon's
// lifetime. It does not interpret the values.
//
// Names start with longterm_ and end with their unit, or with _total if they only grow. Labels have few values: never a
// session, name or path.
package metrics

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ContentType is the content type of a metrics page.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Page is a metrics page under construction.
type Page struct{ b bytes.Buffer }

// Bytes returns the page.
func (p *Page) Bytes() []byte { return p.b.Bytes() }

// Family starts the samples of a name. Kind is counter, gauge or histogram.
func (p *Page) Family(name, kind, help string) {
	fmt.Fprintf(&p.b, "# HELP %s %s\n# TYPE %s %s\n", name, escapeHelp.Replace(help), name, kind)
}

// Sample adds a value to the family; labels alternates names and values.
func (p *Page) Sample(name string, value float64, labels ...string) {
	p.b.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		p.b.WriteByte("{,"[min(i, 1)])
		fmt.Fprintf(&p.b, `%s="%s"`, labels[i], escapeLabel.Replace(labels[i+1]))
	}
	if len(labels) > 1 {
		p.b.WriteByte('}')
	}
	p.b.WriteByte(' ')
	p.b.WriteString(strconv.FormatFloat(value, 'g', -1, 64))
	p.b.WriteByte('\n')
}

// SingleSample adds a family of one sample.
func (p *Page) SingleSample(name, kind, help string, value float64) {
	p.Family(name, kind, help)
	p.Sample(name, value)
}

var (
	// escapeHelp escapes help texts.
	escapeHelp = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	// escapeLabel escapes label values.
	escapeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// Requests counts requests by status and measures those answered at once.
type Requests struct {
	mu         sync.Mutex
	codes      map[int]uint64
	counts     [len(bounds) + 1]uint64
	sum        float64
	inProgress int
}

// bounds are the histogram's bounds, in seconds.
var bounds = [...]float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5}

// Begin counts a new request.
func (r *Requests) Begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inProgress++
}

// End counts an answered request. Requests that waited for an event do not count for latency.
func (r *Requests) End(code int, took time.Duration, waited bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.codes == nil {
		r.codes = map[int]uint64{}
	}
	r.inProgress--
	r.codes[code]++
	if waited {
		return
	}
	i, _ := slices.BinarySearch(bounds[:], took.Seconds())
	r.counts[i]++
	r.sum += took.Seconds()
}

// Write adds the counters to a page.
func (r *Requests) Write(p *Page) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.Family("longterm_http_requests_total", "counter", "Requests that were answered, by HTTP status.")
	for _, code := range slices.Sorted(maps.Keys(r.codes)) {
		p.Sample("longterm_http_requests_total", float64(r.codes[code]), "code", strconv.Itoa(code))
	}
	p.SingleSample("longterm_http_requests_in_flight", "gauge", "Requests under way, streams and those that wait too.", float64(r.inProgress))
	const name = "longterm_http_request_duration_seconds"
	p.Family(name, "histogram", "Time to answer requests that wait for nothing.")
	n := uint64(0)
	for i, bound := range bounds {
		n += r.counts[i]
		p.Sample(name+"_bucket", float64(n), "le", strconv.FormatFloat(bound, 'g', -1, 64))
	}
	n += r.counts[len(bounds)]
	p.Sample(name+"_bucket", float64(n), "le", "+Inf")
	p.Sample(name+"_sum", r.sum)
	p.Sample(name+"_count", float64(n))
}
