package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// sendError responds to a request on a connection with an HTTP error and closes it. It reads the start of the request first:
// clients reject an unrequested response.
func sendError(conn net.Conn, err error) {
	defer conn.Close()
	var e *api.Error
	if !errors.As(err, &e) {
		e = api.Errorf(api.CodeUnavailable, "%v", err)
	}
	body, err := json.Marshal(e)
	if err != nil {
		return
	}
	_ = conn.SetDeadline(time.Now().Add(refuseTime))
	buf := make([]byte, 64<<10)
	if _, err := conn.Read(buf); err != nil {
		return
	}
	_, err = fmt.Fprintf(conn, "HTTP/1.1 %d Refused\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		e.GetStatus(), len(body), body)
	for err == nil { // unread bytes would reset the connection before the response arrives
		_, err = conn.Read(buf)
	}
}

// refuseTime bounds sendError.
const refuseTime = 5 * time.Second

// unreachableError returns a retryable error: nothing was done.
func unreachableError(t Target, why string) *api.Error {
	e := api.Errorf(api.CodeUnavailable, "%s is unreachable at the moment: %s", t, why).
		WithHint("retrying automatically; its sessions continue")
	e.Retry = true
	return e
}
