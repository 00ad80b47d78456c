import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import type { CompletedPart, S3Client } from '@aws-sdk/client-s3';
import { parts, MAX_PARTS } from './s3-parts';
import type { StoredObject, Target } from './target';

/** Where a bucket is and who we are there. Files, because credentials belong neither in arguments nor in the environment. */
export interface S3Settings {
  readonly bucket: string;
  readonly prefix?: string;
  readonly endpoint?: string;
  readonly region?: string;
  /** Folder with the files AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and perhaps AWS_SESSION_TOKEN. */
  readonly credentials: string;
  /** File with the authorities that may sign the endpoint's certificate. */
  readonly ca?: string;
}

type Sdk = typeof import('@aws-sdk/client-s3');

/** Tries that a request gets; the SDK backs off between them. */
const ATTEMPTS = 6;
/** How often a broken download is taken up again without having got any further. */
const RESUMES = 5;

/** How long parts that are on their way may take when their upload is given up; a pod has thirty seconds for its farewell. */
const FAREWELL_MS = 10_000;

/** Backups in a bucket. */
export class S3Target implements Target {
  private constructor(
    private readonly sdk: Sdk,
    private readonly client: S3Client,
    private readonly bucket: string,
    private readonly prefix: string,
  ) {}

  /** Loads the SDK only now: whoever backs up to a volume never pays for it. */
  static async connect(settings: S3Settings): Promise<S3Target> {
    const sdk = await import('@aws-sdk/client-s3');
    const read = (name: string) => readFileSync(`${settings.credentials}/${name}`, 'utf8').trim();
    const optional = (name: string) => {
      try {
        return read(name);
      } catch {
        return undefined;
      }
    };
    const client = new sdk.S3Client({
      region: settings.region ?? 'us-east-1',
      endpoint: settings.endpoint,
      // Servers other than Amazon's rarely have a DNS name for each bucket.
      forcePathStyle: settings.endpoint !== undefined,
      maxAttempts: ATTEMPTS,
      credentials: { accessKeyId: read('AWS_ACCESS_KEY_ID'), secretAccessKey: read('AWS_SECRET_ACCESS_KEY'), sessionToken: optional('AWS_SESSION_TOKEN') },
      // Each part carries a SHA-256 of ours, and the manifest one of the whole: a second kind of sum would only cost time.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: 10_000, requestTimeout: 120_000, ...(settings.ca !== undefined && { httpsAgent: new Agent({ ca: readFileSync(settings.ca), keepAlive: true }) }) },
    });
    return new S3Target(sdk, client, settings.bucket, settings.prefix?.replace(/^\/+|\/+$/g, '') ?? '');
  }

  location(path: string): string {
    return `s3://${this.bucket}/${this.key(path)}`;
  }

  async write(path: string, source: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
    const at = { Bucket: this.bucket, Key: this.key(path) };
    const options = { abortSignal: signal };
    const iterator = parts(source)[Symbol.asyncIterator]();
    const first = await iterator.next();
    const second = first.done === true ? first : await iterator.next();
    if (second.done === true) {
      const body = first.done === true ? Buffer.alloc(0) : first.value;
      await this.client.send(new this.sdk.PutObjectCommand({ ...at, Body: body, ChecksumSHA256: sha256(body) }), options);
      return;
    }
    const { UploadId } = await this.client.send(new this.sdk.CreateMultipartUploadCommand({ ...at, ChecksumAlgorithm: 'SHA256' }), options);
    try {
      const completed = await this.uploadParts({ ...at, UploadId }, [first.value as Buffer, second.value], iterator, signal);
      await this.client.send(new this.sdk.CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts: completed } }), options);
    } catch (error) {
      await this.client.send(new this.sdk.AbortMultipartUploadCommand({ ...at, UploadId })).catch(() => undefined);
      throw error;
    }
  }

  async read(path: string, signal: AbortSignal): Promise<AsyncIterable<Buffer> | undefined> {
    const at = { Bucket: this.bucket, Key: this.key(path) };
    try {
      const response = await this.client.send(new this.sdk.GetObjectCommand(at), { abortSignal: signal });
      return this.resumed(response.Body as AsyncIterable<Buffer>, at, response.ETag, response.ContentLength ?? 0, signal);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async size(path: string, signal: AbortSignal): Promise<number | undefined> {
    try {
      return (await this.client.send(new this.sdk.HeadObjectCommand({ Bucket: this.bucket, Key: this.key(path) }), { abortSignal: signal })).ContentLength;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async list(folder: string, signal: AbortSignal): Promise<StoredObject[]> {
    const found: StoredObject[] = [];
    const pages = this.sdk.paginateListObjectsV2({ client: this.client, stopOnSameToken: true }, { Bucket: this.bucket, Prefix: `${this.key(folder)}/` }, { abortSignal: signal });
    for await (const page of pages) {
      for (const object of page.Contents ?? []) found.push({ path: this.path(object.Key ?? ''), modifiedAt: object.LastModified ?? new Date(0) });
    }
    return found;
  }

  async remove(path: string, signal: AbortSignal): Promise<void> {
    const at = { Bucket: this.bucket, Key: this.key(path) };
    await this.client.send(new this.sdk.DeleteObjectCommand(at), { abortSignal: signal });
    for (const upload of await this.uploads(at.Key, signal)) await this.abort(upload, signal);
  }

  async sweep(folder: string, quietSince: Date, signal: AbortSignal): Promise<string[]> {
    const swept: string[] = [];
    for (const upload of await this.uploads(`${this.key(folder)}/`, signal)) {
      if ((await this.lastPartAt(upload, signal)) > quietSince) continue;
      await this.abort(upload, signal);
      swept.push(this.path(upload.Key));
    }
    return swept;
  }

  private async uploadParts(upload: { Bucket: string; Key: string; UploadId: string | undefined }, begun: Buffer[], rest: AsyncIterator<Buffer>, signal: AbortSignal): Promise<CompletedPart[]> {
    const completed: CompletedPart[] = [];
    const inFlight = new Set<Promise<void>>();
    // A part may fail while the next one is waited for: an upload that is completed without it would look whole.
    const failures: unknown[] = [];
    // What arrives after the abort of its upload stays in the bucket, unseen and paid for: what is on its way may still come.
    const cut = delayed(signal, FAREWELL_MS);
    let bytes = 0;
    let number = 0;
    const start = async (body: Buffer) => {
      signal.throwIfAborted();
      number += 1;
      if (number > MAX_PARTS) throw new Error(`the artifact has more than ${MAX_PARTS} parts, which is all that S3 takes`);
      const PartNumber = number;
      // One part at least is always under way; more while they fit the budget.
      while (failures.length === 0 && inFlight.size > 0 && bytes + body.length > BYTES_IN_FLIGHT) await Promise.race(inFlight);
      if (failures.length > 0) throw failures[0];
      bytes += body.length;
      const sent = this.client
        .send(new this.sdk.UploadPartCommand({ ...upload, PartNumber, Body: body, ChecksumSHA256: sha256(body) }), { abortSignal: cut })
        .then(({ ETag, ChecksumSHA256 }) => {
          bytes -= body.length;
          completed.push({ PartNumber, ETag, ChecksumSHA256: ChecksumSHA256 ?? sha256(body) });
        });
      const tracked = sent.catch((error: unknown) => void failures.push(error)).finally(() => inFlight.delete(tracked));
      inFlight.add(tracked);
    };
    try {
      for (const body of begun) await start(body);
      for (let next = await rest.next(); next.done !== true; next = await rest.next()) await start(next.value);
    } finally {
      await Promise.all(inFlight);
    }
    if (failures.length > 0) throw failures[0];
    return completed.sort((left, right) => (left.PartNumber ?? 0) - (right.PartNumber ?? 0));
  }

  private async *resumed(body: AsyncIterable<Buffer>, at: { Bucket: string; Key: string }, etag: string | undefined, length: number, signal: AbortSignal): AsyncIterable<Buffer> {
    let offset = 0;
    for (let tries = 0, source = body; ; tries += 1) {
      try {
        for await (const chunk of source) {
          offset += chunk.length;
          tries = 0;
          yield chunk;
        }
        if (offset >= length) return;
      } catch (error) {
        if (signal.aborted || tries >= RESUMES) throw error;
      }
      if (tries >= RESUMES) throw new Error(`the download ended after ${offset} of ${length} bytes`);
      // The tag makes sure that the rest is the rest of the same object.
      const response = await this.client.send(new this.sdk.GetObjectCommand({ ...at, Range: `bytes=${offset}-`, IfMatch: etag }), { abortSignal: signal });
      source = response.Body as AsyncIterable<Buffer>;
    }
  }

  private async uploads(prefix: string, signal: AbortSignal): Promise<{ Key: string; UploadId: string; Initiated: Date }[]> {
    const { Uploads = [] } = await this.client.send(new this.sdk.ListMultipartUploadsCommand({ Bucket: this.bucket, Prefix: prefix }), { abortSignal: signal });
    return Uploads.map(({ Key = '', UploadId = '', Initiated = new Date(0) }) => ({ Key, UploadId, Initiated })).filter(({ Key }) => Key.startsWith(prefix));
  }

  private async lastPartAt(upload: { Key: string; UploadId: string; Initiated: Date }, signal: AbortSignal): Promise<Date> {
    let last = upload.Initiated;
    const pages = this.sdk.paginateListParts({ client: this.client, stopOnSameToken: true }, { Bucket: this.bucket, Key: upload.Key, UploadId: upload.UploadId }, { abortSignal: signal });
    for await (const page of pages) {
      for (const part of page.Parts ?? []) if ((part.LastModified ?? last) > last) last = part.LastModified ?? last;
    }
    return last;
  }

  private async abort({ Key, UploadId }: { Key: string; UploadId: string }, signal: AbortSignal): Promise<void> {
    await this.client.send(new this.sdk.AbortMultipartUploadCommand({ Bucket: this.bucket, Key, UploadId }), { abortSignal: signal });
  }

  private key(path: string): string {
    return this.prefix === '' ? path : `${this.prefix}/${path}`;
  }

  private path(key: string): string {
    return this.prefix === '' ? key : key.slice(this.prefix.length + 1);
  }
}

/** With the part that is being filled, the SDK and Node itself, this stays within the 256 MiB of the store's container. */
const BYTES_IN_FLIGHT = 24 * 1024 * 1024;

/** Aborted that long after the other. */
function delayed(signal: AbortSignal, milliseconds: number): AbortSignal {
  const late = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => late.abort(signal.reason), milliseconds).unref(), { once: true });
  return late.signal;
}

function sha256(body: Buffer): string {
  return createHash('sha256').update(body).digest('base64');
}

function isMissing(error: unknown): boolean {
  return ['NoSuchKey', 'NotFound'].includes((error as Error).name);
}
