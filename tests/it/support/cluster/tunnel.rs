//! A proxy as companies have it between people and API servers: it passes bytes on and understands none of them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Cluster;

/// A proxy that speaks HTTP's `CONNECT` and SOCKS 5 on one port, whichever a client begins with. Whatever name it is asked for leads to
/// the cluster. It serves until the test process ends.
pub(crate) struct Tunnel {
    port: u16,
    log: Arc<Mutex<Vec<String>>>,
    /// Number of reset connections.
    forgotten: Arc<AtomicUsize>,
}

impl Tunnel {
    /// Passes nothing on any more for the connections that there are, and tells nobody, as routers do that were restarted. New
    /// connections are as before.
    pub(crate) fn forget_connections(&self) {
        self.forgotten.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns where it listens, for `http://` and `socks5://` addresses.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns what it was asked to connect to, as `PROTOCOL HOST:PORT`, since the last call.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Cluster {
    /// Starts a proxy that leads to the API server.
    pub(crate) fn tunnel(&self) -> Tunnel {
        let server = self.server();
        let port: u16 = server
            .rsplit(':')
            .next()
            .and_then(|port| port.parse().ok())
            .expect("the server's address has a port");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let tunnel = Tunnel {
            port: listener.local_addr().expect("it listens").port(),
            log: Arc::default(),
            forgotten: Arc::default(),
        };
        let (log, forgotten) = (Arc::clone(&tunnel.log), Arc::clone(&tunnel.forgotten));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, forgotten) = (Arc::clone(&log), Arc::clone(&forgotten));
                std::thread::spawn(move || serve(stream, port, &log, &forgotten));
            }
        });
        tunnel
    }
}

fn serve(
    mut client: TcpStream,
    port: u16,
    log: &Mutex<Vec<String>>,
    forgotten: &Arc<AtomicUsize>,
) -> Option<()> {
    let mut first = [0];
    client.peek(&mut first).ok()?;
    let asked = if first == [5] {
        socks(&mut client)?
    } else {
        connect(&mut client)?
    };
    log.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    let (from_client, from_server) = (client.try_clone().ok()?, server.try_clone().ok()?);
    let life = Life {
        begun: forgotten.load(Ordering::Relaxed),
        forgotten: Arc::clone(forgotten),
    };
    let upwards = std::thread::spawn({
        let life = life.clone();
        move || pass_on(from_client, server, &life)
    });
    pass_on(from_server, client, &life);
    upwards.join().ok()
}

/// Lifetime of a proxied connection.
#[derive(Clone)]
struct Life {
    begun: usize,
    forgotten: Arc<AtomicUsize>,
}

impl Life {
    fn is_over(&self) -> bool {
        self.forgotten.load(Ordering::Relaxed) != self.begun
    }
}

/// Until one side ends; then the other is told so, unless the connection was forgotten.
fn pass_on(mut from: TcpStream, mut to: TcpStream, life: &Life) {
    let mut piece = vec![0; 1 << 16];
    loop {
        // A side that breaks off ends the connection, as it should.
        let count = from.read(&mut piece).unwrap_or(0);
        if life.is_over() {
            if count == 0 {
                return;
            }
            continue;
        }
        if count == 0 || to.write_all(&piece[..count]).is_err() {
            let _ = to.shutdown(Shutdown::Write);
            return;
        }
    }
}

/// RFC 9110, section 9.3.6.
fn connect(client: &mut TcpStream) -> Option<String> {
    // The client says nothing further before it has the answer, so that nothing is lost with the reader.
    let mut lines = BufReader::new(client.try_clone().ok()?);
    let mut request = String::new();
    lines.read_line(&mut request).ok()?;
    let mut line = String::new();
    while lines.read_line(&mut line).ok()? > 2 {
        line.clear();
    }
    let target = request.strip_prefix("CONNECT ")?.split(' ').next()?;
    client
        .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
        .ok()?;
    Some(format!("http {target}"))
}

/// RFC 1928, without authentication.
fn socks(client: &mut TcpStream) -> Option<String> {
    let mut head = [0; 2];
    client.read_exact(&mut head).ok()?;
    let mut methods = vec![0; usize::from(head[1])];
    client.read_exact(&mut methods).ok()?;
    client.write_all(&[5, 0]).ok()?;
    let mut request = [0; 4];
    client.read_exact(&mut request).ok()?;
    let host = match request[3] {
        1 => {
            let mut address = [0; 4];
            client.read_exact(&mut address).ok()?;
            Ipv4Addr::from(address).to_string()
        }
        3 => {
            let mut length = [0];
            client.read_exact(&mut length).ok()?;
            let mut name = vec![0; usize::from(length[0])];
            client.read_exact(&mut name).ok()?;
            String::from_utf8(name).ok()?
        }
        _ => return None,
    };
    let mut port = [0; 2];
    client.read_exact(&mut port).ok()?;
    client.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 0]).ok()?;
    Some(format!("socks {host}:{}", u16::from_be_bytes(port)))
}
