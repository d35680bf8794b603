FROM nvcr.io/nvidia/pytorch:24.03-py3
ARG USER=runner
ENV HF_HOME=/workspace/.cache PATH=/opt/conda/bin:$PATH MASTER_PORT=29500
RUN apt-get update && apt-get install -y --no-install-recommends openssh-server=1:8.9p1-3ubuntu0.6 && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir deepspeed==0.14.2 mpi4py
COPY . /workspace
EXPOSE 8888 6006
USER runner
CMD ["python", "-m", "train", "--host", "0.0.0.0", "--port", "8888"]
