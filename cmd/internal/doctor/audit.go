//go:build unix

package doctor

import (
	"context"
	"fmt"
	"os"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
)

// AuditAgainst is what an instance's audit log is held against: the newest record that a running daemon says there is,
// and whether there has to be a log.
func AuditAgainst(ctx context.Context, dirs paths.Dirs, quiet *client.Client) audit.Against {
	against := audit.Against{Expected: AuditIsExpected(dirs)}
	if st, err := quiet.Status(ctx); err == nil { // before the log is read: what is newer does not matter
		against.Written, _ = audit.ParseHead(st.Audit) // another version's may have none
	}
	return against
}

// AuditIsExpected says that a daemon has worked here: each begins its audit log before its database.
func AuditIsExpected(dirs paths.Dirs) bool {
	_, err := os.Lstat(dirs.Database())
	return err == nil
}

// mostChecked is how large an audit log is checked along with all else: that takes some seconds.
const mostChecked = 256 << 20

// checkAudit finds whether acts are recorded, and whether the record is what was written.
func checkAudit(ctx context.Context, d *Doctor) finding {
	const look = "run `longterm audit --verify`"
	dir, against := d.Dirs.Audit(), AuditAgainst(ctx, d.Dirs, d.Quiet)
	if !audit.Exists(dir) && !against.Expected {
		return ok("nothing is recorded yet")
	}
	if f := checkDir(dir); f.Level != "ok" {
		return f
	}
	if size, err := audit.Size(dir); err != nil || size > mostChecked {
		return ok("%d MiB of records; `longterm audit --verify` checks as many", size>>20)
	}
	r, err := audit.Verify(dir, against)
	switch {
	case err != nil:
		return fail("make it readable", "%v", err)
	case !r.OK:
		return fail(look+": it names all, and the place", "%s", output.Printable(r.Findings[0].What)+andMore(len(r.Findings)-1+r.More))
	case !r.Proven:
		return warn("keep what `longterm audit --head` prints on another machine, and give it to `longterm audit --verify --anchor`",
			"%d records are in order; that older ones were dropped, and not removed by somebody, only the log itself says", r.Records)
	}
	return ok("%d records are consistent; a program that may write them may replace them all, unless `longterm audit --head` is kept elsewhere", r.Records)
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more", n)
}
