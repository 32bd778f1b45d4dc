//go:build !linux

package sys

import (
	"errors"
	"syscall"
)

// ReceiveNotification fails: system calls wait for nobody here.
func ReceiveNotification(int) (Notification, error) { return Notification{}, errors.ErrUnsupported }

// NotificationSize is that of nothing.
const NotificationSize = 8

// ReceiveNotificationInto fails likewise.
func ReceiveNotificationInto(int, []byte) (Notification, error) {
	return Notification{}, errors.ErrUnsupported
}

// NotificationComes is false.
func NotificationComes(int) bool { return false }

// NotificationIn is nothing.
func NotificationIn([]byte) Notification { return Notification{} }

// AnswerNotification fails likewise.
func AnswerNotification(int, uint64, syscall.Errno) error { return errors.ErrUnsupported }

// IsExecution is true of all, of which there are none.
func (Notification) IsExecution() bool { return true }

// Aim is nobody.
func (Notification) Aim() Aim { return Aim{} }

// SharesPIDs is true: there is one namespace.
func SharesPIDs(int) bool { return true }

// NotificationWaits is false of all.
func NotificationWaits(int, uint64) bool { return false }

// WakeAtOnce does nothing.
func WakeAtOnce(int) {}

// ReadExecution fails likewise.
func ReadExecution(Notification, int) (Execution, error) { return Execution{}, errors.ErrUnsupported }
