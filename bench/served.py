"""`cloze serve` as a process of a script."""
import re
import subprocess


def start_server(program, model, *options):
    """The process and its address, http://127.0.0.1:PORT without a slash at the end, on a free port.

    Its standard error is a pipe, read up to the line with the address. Ends the script with what the
    server said when it does not start."""
    server = subprocess.Popen([program, "serve", "--init-checkpoint", model, "--port", "0", *options],
                              stderr=subprocess.PIPE, text=True)
    said = []
    for line in iter(server.stderr.readline, ""):
        said.append(line)
        address = re.search(r"http://\S+?(?=/:)", line)
        if address:
            return server, address.group(0)
    raise SystemExit(f"the server did not start: {''.join(said)}")
