//go:build unix

package fleetmember

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// BenchmarkRead reads the records of 1,000 hosts with 100 sessions each.
func BenchmarkRead(b *testing.B) {
	var all []registry.Entry
	for h := range 1000 {
		host := fmt.Sprint("sim-", h)
		v, _ := json.Marshal(api.FleetHost{Host: host, CPUs: 1, Time: time.Now()})
		all = append(all, registry.Entry{Host: host, Value: v, Time: time.Now()})
		for i := range 100 {
			id := fmt.Sprint("s", i)
			v, _ := json.Marshal(api.FleetSession{
				ID: id, Name: "build-" + id, State: "running", Command: "make -j2 all", Cwd: "/home/user/src/project", Since: time.Now().UTC().Truncate(time.Second),
			})
			all = append(all, registry.Entry{Host: host, Record: id, Value: v, Time: time.Now()})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		ParseEntries(all)
	}
}
