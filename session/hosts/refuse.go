package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// refuse answers a request on a connection with an HTTP error and closes it. It reads the start of the request first:
// clients reject an unrequested response.
func refuse(conn net.Conn, err error) {
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
	for err == nil { // what is not read would cut the answer off
		_, err = conn.Read(buf)
	}
}

// refuseTime bounds the whole of it.
const refuseTime = 5 * time.Second

// awayError returns a retryable error: nothing was done.
func awayError(t Target, why string) *api.Error {
	e := api.Errorf(api.CodeUnavailable, "%s is unreachable at the moment: %s", t, why).
		WithHint("retrying automatically; its sessions continue")
	e.Retry = true
	return e
}
